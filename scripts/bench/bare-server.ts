// The baseline server: a process that only returns a small JSON through Bun.serve.

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: () => Response.json({ ok: true, message: 'hello' }),
})
console.log(`http://127.0.0.1:${server.port}`)
