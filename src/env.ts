// Sets or removes environment variables that libraries read. Must be imported first.

// Elysia reads this while it is imported. In development mode it reveals causes of errors.
process.env.NODE_ENV = 'production'

// Remove it, because Bun would stop verifying certificates. --cacert adds trusted ones instead.
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
