// Imported before anything else: Elysia reads NODE_ENV while it is imported, and development mode shows causes of errors.
process.env.NODE_ENV = 'production'
