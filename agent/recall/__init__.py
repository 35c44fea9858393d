"""The read side (MEMORY_READ): folds what the store holds into what people ask for. It writes nothing."""
