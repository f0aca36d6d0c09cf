// The name of the schema of PostgreSQL that holds the tables. Each connection has it as its search path.

export const SCHEMA = 'oncebox'
