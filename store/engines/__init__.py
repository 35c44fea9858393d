"""The databases: connections, tables, migrations."""
