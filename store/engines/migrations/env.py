"""What Alembic runs to reach the database: it is given the store's own connection (store.engines.migrations)."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=False)
context.run_migrations()
