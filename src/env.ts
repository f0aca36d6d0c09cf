// Imported before anything else: variables that others read, set or taken away.

// Elysia reads it while it is imported; in development mode it shows causes of errors.
process.env.NODE_ENV = 'production'

// Bun and its TLS read this one too; certificates are always verified, and --cacert names more of them.
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
