"""All functions, page by page; importing a module registers its own."""

from tests.docs.measured import bodies as bodies
from tests.docs.measured import control as control
from tests.docs.measured import fish as fish
from tests.docs.measured import fluid as fluid
from tests.docs.measured import methods as methods
from tests.docs.measured import studies as studies
from tests.docs.measured.registry import MEASURES as MEASURES
