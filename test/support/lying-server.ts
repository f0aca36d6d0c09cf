// A server that breaks one promise, for the tests of the self-test. LIE names the promise. Started like
// Oncebox.

import { Database } from 'bun:sqlite'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const [command, ...flags] = process.argv.slice(2)
const dataDir = flags[flags.indexOf('--data-dir') + 1] ?? ''
// The environment of a real server is empty, so a file beside the folder names the lie.
const lie = await Bun.file(join(dirname(dataDir), 'lie')).text()

type Push = { payload: string; left: number; passphrase: string | null; tries: number; deleted: boolean }

if (command === 'serve') serve()
else console.log('obx_token')

function serve() {
  mkdirSync(dataDir, { recursive: true })
  const database = new Database(join(dataDir, 'lying.db'))
  // The process is killed, but the machine keeps running.
  database.run('PRAGMA synchronous = OFF')
  database.run('CREATE TABLE IF NOT EXISTS pushes (token TEXT PRIMARY KEY, push TEXT)')
  const load = (token: string): Push | null => {
    const row = database
      .query<{ push: string }, [string]>('SELECT push FROM pushes WHERE token = ?')
      .get(token)
    return row === null ? null : JSON.parse(row.push)
  }
  const save = (token: string, push: Push) => {
    database.run('INSERT OR REPLACE INTO pushes VALUES (?, ?)', [
      token,
      JSON.stringify({ ...push, payload: hide(push.payload) }),
    ])
  }
  // Hides the text only from a search for it.
  const hide = (text: string) => (lie === 'in the clear' ? text : [...text].reverse().join(''))
  const forgotten = new Map<string, Push>()
  let made = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const token = new URL(request.url).pathname.split('/')[4] ?? ''
      if (request.method === 'POST') {
        const { push } = (await request.json()) as { push: Record<string, string> }
        const urlToken = `${process.pid}x${made++}`
        const views = Number(push.expire_after_views ?? 5)
        const entry = {
          payload: push.payload ?? '',
          left: views,
          passphrase: push.passphrase ?? null,
          tries: 0,
          deleted: false,
        }
        if (lie === 'forgets') forgotten.set(urlToken, entry)
        else save(urlToken, entry)
        return Response.json({ url_token: urlToken }, { status: 201 })
      }
      const stored = lie === 'forgets' ? (forgotten.get(token) ?? null) : load(token)
      if (stored === null) return Response.json({ error: 'not-found' }, { status: 404 })
      const push = lie === 'forgets' ? stored : { ...stored, payload: hide(stored.payload) }
      const keep = () => (lie === 'forgets' ? forgotten.set(token, push) : save(token, push))
      if (request.method === 'DELETE') {
        push.deleted = lie !== 'keeps what was deleted'
        keep()
        return Response.json({})
      }
      const given = request.headers.get('x-push-passphrase')
      if (push.passphrase !== null) {
        if (push.tries >= 5 && lie !== 'lets guess') return Response.json({}, { status: 429 })
        push.tries += 1
        keep()
        return Response.json({}, { status: decodeURIComponent(given ?? '') === push.passphrase ? 200 : 401 })
      }
      const isOver = push.deleted || push.left < (lie === 'one view more' ? 0 : 1)
      push.left -= 1
      keep()
      return Response.json({ payload: isOver ? null : push.payload, files: [] })
    },
  })
  process.on('SIGTERM', () => process.exit(0))
  process.umask(0o077)
  if (lie === 'open folder') writeFileSync(join(dataDir, 'open'), 'x', { mode: 0o644 })
  console.log(`ready on http://127.0.0.1:${server.port}`)
}
