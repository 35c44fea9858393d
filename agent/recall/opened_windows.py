"""What windows are cut with as the environment has it: words for relevance, and meaning where a model is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent.core.window.cutting import Ranker
from agent.recall.relevance import ranker_for
from agent.recall.windows import SessionWindows


def opened_windows(environ: Mapping[str, str]) -> SessionWindows:
    """Windows of which nothing is held yet. Raises ConfigurationError, as ``opened_rankers``."""
    return SessionWindows(rankers=opened_rankers(environ))


def opened_rankers(environ: Mapping[str, str]) -> Callable[[str | None], Ranker]:
    """A ranker for each session; None is for turns that are of none, of which nothing is filed.

    ``SEMANTIC_MODEL`` is checked here, and loaded by who first asks what is relevant. Raises ConfigurationError.
    """
    # Late: only who asks for windows needs it.
    from agent.recall.semantic.settings import semantic_cache, semantic_model

    model = semantic_model(environ)
    if model is None:
        return lambda _: ranker_for()
    # Late: these are of the extra.
    from agent.recall.semantic.embedder import Embedder
    from agent.recall.semantic.semantic import Semantic
    from agent.recall.semantic.vector_files import VectorFiles

    folder = semantic_cache(environ)
    semantic = Semantic(Embedder(model), None if folder is None else VectorFiles(folder, model))
    return lambda session_id: ranker_for(semantic.ranker(session_id))
