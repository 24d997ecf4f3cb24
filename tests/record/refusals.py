"""What a refusal says besides its words: the arguments that it names and the value that it shows."""

import re


def named_and_given(text, parameters):
    """The parameters that a message names as `name = value`, `name=value`, `name is`, 'name' or name[...], in their
    order; and the value that it shows first. What comes after the first semicolon says what was expected, or what to
    do, and counts for nothing."""
    head = re.sub(r"0x[0-9a-f]{6,}", "0x", text).split("; ")[0]
    found = []
    for name in parameters:
        word = re.escape(name)
        match = re.search(rf"(?<![\w.']){word}(?:\[[^]]*\])?(?: ?=(?!=)| is | must )|'{word}'", head)
        if match:
            found.append((match.start(), name))
    value = re.search(r"(?<![=<>])= ?(?!=)(.*)", head)
    return [name for _, name in sorted(found)], re.split(r" (?:is|are|has) ", value[1])[0] if value else None
