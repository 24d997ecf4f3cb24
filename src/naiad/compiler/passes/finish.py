"""The last touch before a program goes to a back end: dead code goes, products and sums become fused multiply-adds."""

from collections import Counter

from naiad.compiler.ir.program import Branch, Buffer, Loop, Node, Program, regions


def finish(program: Program, *, fma: bool) -> Program:
    """The program, changed in place, ready for a back end; `fma`: with fused multiply-adds."""
    live = _live(program)
    for region in list(regions(program.region)):
        region.items = [node for node in region.items if node.number in live]
        region.shared = {}
    _drop_dead_values(program, live)
    uses = uses_of(program)
    program.fma = fma
    if fma:
        for region in regions(program.region):
            for node in region.items:
                if node.op in ("add", "sub"):
                    fuse(node, uses)
    for region in list(regions(program.region)):
        region.items = [
            node for node in region.items if isinstance(node, Loop | Branch) or node.op == "store" or uses[node.number]
        ]
    program.stats = dict(Counter(node.op for region in regions(program.region) for node in region.items))
    return program


def _live(program: Program) -> set[int]:
    stores: dict[Buffer, list[Node]] = {}
    for region in regions(program.region):
        for node in region.items:
            if node.op == "store":
                stores.setdefault(node.value, []).append(node)
    live: set[int] = set()
    work = [node for _, node in program.results]
    work += [node for buffer, nodes in stores.items() if buffer.space == "out" for node in nodes]
    while work:
        node = work.pop()
        if node.number in live:
            continue
        live.add(node.number)
        work += node.args
        if node.op in ("param", "result"):
            owner, i = node.value
            work.append(owner)
            if isinstance(owner, Loop):
                work += [owner.params[i], owner.inits[i], owner.yields[i]]
            else:
                work += [owner.yields[0][i], owner.yields[1][i]]
        elif isinstance(node, Loop | Branch):
            work.append(node.predicate)
        elif node.op == "load":
            work += stores.get(node.value, [])
        if node.region.owner is not None:
            work.append(node.region.owner)
    return live


def _drop_dead_values(program: Program, live: set[int]) -> None:
    """Parameters of loops and results of branches that nobody reads."""
    for region in regions(program.region):
        for node in region.items:
            if isinstance(node, Loop):
                keep = [i for i, param in enumerate(node.params) if param.number in live]
                node.params, node.inits, node.yields, node.results = (
                    [values[i] for i in keep] for values in (node.params, node.inits, node.yields, node.results)
                )
                _renumber(node, node.params)
            elif isinstance(node, Branch):
                keep = [i for i, result in enumerate(node.results) if result.number in live]
                node.results = [node.results[i] for i in keep]
                node.yields = ([node.yields[0][i] for i in keep], [node.yields[1][i] for i in keep])
            if isinstance(node, Loop | Branch):
                _renumber(node, node.results)


def _renumber(owner: Loop | Branch, nodes: list[Node]) -> None:
    for i, node in enumerate(nodes):
        node.value = (owner, i)


def uses_of(program: Program) -> Counter[int]:
    """How often each node is used."""
    uses = Counter(node.number for _, node in program.results)
    for region in regions(program.region):
        for node in region.items:
            uses.update(a.number for a in node.args)
            if isinstance(node, Loop):
                uses.update(a.number for a in (*node.inits, *node.yields, node.predicate))
            elif isinstance(node, Branch):
                uses.update(a.number for a in (*node.yields[0], *node.yields[1], node.predicate))
    return uses


def fuse(node: Node, uses: Counter[int]) -> None:
    """Make a sum with a product that nobody else uses one operation."""
    a, b = node.args
    for product, other, first in ((b, a, False), (a, b, True)):
        alone = product.op == "mul" and uses[product.number] == 1 and product.region is node.region
        if alone and product is not other and product.width == node.width:
            op = "fma" if node.op == "add" else "fms" if first else "fnma"
            node.op, node.args = op, (*product.args, other)
            uses[product.number] = 0
            return
