"""What requests load is set apart from the collector of circles, each time that there is something new."""

import gc
import sys
from types import ModuleType

import pytest
from werkzeug.test import create_environ, run_wsgi_app

from agent.edge.settled_heap import SettledHeap

NAME = "a_module_of_this_test"


class Loading:
    """An application that loads what it is told to."""

    def __init__(self):
        self.loads = False

    def __call__(self, environ, start_response):
        if self.loads:
            sys.modules[NAME] = ModuleType(NAME)
        start_response("200 OK", [])
        return [b"done"]


@pytest.fixture
def unfrozen():
    gc.unfreeze()
    sys.modules.pop(NAME, None)
    yield
    gc.unfreeze()
    sys.modules.pop(NAME, None)


def asked(application):
    body, status, _ = run_wsgi_app(application, create_environ(), buffered=True)
    return status, b"".join(body)


def test_what_the_first_request_finds_is_set_apart_and_later_what_another_loads(unfrozen):
    application = Loading()
    settled = SettledHeap(application)
    assert asked(settled) == ("200 OK", b"done")
    assert gc.get_freeze_count() > 0

    gc.unfreeze()
    asked(settled)
    assert gc.get_freeze_count() == 0

    application.loads = True
    asked(settled)
    assert gc.get_freeze_count() > 0


def test_circles_that_come_later_are_collected(unfrozen):
    asked(SettledHeap(Loading()))
    gc.collect()
    circle = []
    circle.append(circle)
    del circle
    assert gc.collect() > 0
