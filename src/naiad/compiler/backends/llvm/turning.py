"""Rows one after the other, from or to lanes: transposed in registers, since memory is slow for elements far apart."""

TURNED = "turned"  # the name of the function


def turned(lanes: int) -> str:
    """A function (from, its steps to the next row and element, to, those there, count) that copies so many elements of
    `lanes` rows; on one side elements lie one after the other, on the other rows do.

    Squares go through registers; what is left goes number by number.
    """
    vector = f"<{lanes} x double>"
    text = [
        f"define internal void @{TURNED}(ptr %from, i64 %a, i64 %b, ptr %to, i64 %c, i64 %d, i64 %n) {{",
        "entry:",
        f"  %whole = and i64 %n, {-lanes}",
        "  %e = mul i64 %a, %b",
        "  %f = mul i64 %c, %d",
        "  br label %squares",
        "squares:",
        "  %j = phi i64 [0, %entry], [%after, %square]",
        "  %more = icmp slt i64 %j, %whole",
        "  br i1 %more, label %square, label %rest",
        "square:",
        f"  %after = add i64 %j, {lanes}",
    ]
    for name, base, stride in (("i", "from", "b"), ("o", "to", "d")):
        text += [
            f"  %{name}j = mul i64 %j, %{stride}",
            f"  %{name}0 = getelementptr double, ptr %{base}, i64 %{name}j",
        ]
        step = "e" if name == "i" else "f"
        text += [f"  %{name}{k} = getelementptr double, ptr %{name}{k - 1}, i64 %{step}" for k in range(1, lanes)]
    text += [f"  %v0.{k} = load {vector}, ptr %i{k}, align 8" for k in range(lanes)]
    names, moves = _transposed([f"%v0.{k}" for k in range(lanes)], vector)
    text += [*moves, *(f"  store {vector} {name}, ptr %o{k}, align 8" for k, name in enumerate(names))]
    text += [
        "  br label %squares",
        "rest:",
        "  %k = phi i64 [%whole, %squares], [%next, %one]",
        "  %some = icmp slt i64 %k, %n",
        "  br i1 %some, label %one, label %end",
        "one:",
        "  %next = add i64 %k, 1",
        "  %g = mul i64 %k, %b",
        "  %h = mul i64 %k, %d",
    ]
    for lane in range(lanes):
        text += [
            f"  %g{lane} = add i64 {f'%g{lane - 1}, %a' if lane else '%g, 0'}",
            f"  %h{lane} = add i64 {f'%h{lane - 1}, %c' if lane else '%h, 0'}",
            f"  %p{lane} = getelementptr double, ptr %from, i64 %g{lane}",
            f"  %q{lane} = getelementptr double, ptr %to, i64 %h{lane}",
            f"  %x{lane} = load double, ptr %p{lane}, align 8",
            f"  store double %x{lane}, ptr %q{lane}, align 8",
        ]
    return "\n".join([*text, "  br label %rest", "end:", "  ret void", "}"])


def _transposed(names: list[str], vector: str) -> tuple[list[str], list[str]]:
    """The columns of a square of vectors, and the lines that make them: of two vectors a, b that are d = 1, 2, 4, ...
    apart come one with a[p] and b[p - d], and one with a[p + d] and b[p], where p / d is even and odd."""
    lanes, lines, distance = len(names), [], 1
    while distance < lanes:
        old, names = names, list(names)
        for k in (k for k in range(lanes) if not k & distance):
            other = k + distance
            low = [p if not p & distance else p - distance + lanes for p in range(lanes)]
            high = [p + distance if not p & distance else p + lanes for p in range(lanes)]
            for place, picks in ((k, low), (other, high)):
                names[place] = f"%v{distance}.{place}"
                mask = ", ".join(f"i32 {pick}" for pick in picks)
                pair = f"{vector} {old[k]}, {vector} {old[other]}"
                lines.append(f"  {names[place]} = shufflevector {pair}, <{lanes} x i32> <{mask}>")
        distance *= 2
    return names, lines
