// Serves from source on a seeded folder, and again after each change in src: `npm run dev`. Arguments are
// flags of `serve`.

import { mkdirSync, rmSync, watch } from 'node:fs'
import { join } from 'node:path'
import { ADMIN, seed } from './dev/seed.ts'
import { writeDeclaration } from './words.ts'

const PROJECT = join(import.meta.dir, '..')
const SOURCE = join(PROJECT, 'src')
const DATA = join(PROJECT, 'dist', 'dev')
/** Editors write a file in several steps. */
const SETTLED_MS = 20

let server: Bun.Subprocess | undefined

/** Resolves once the server listens or has ended, and returns the line with its address. */
async function serve(): Promise<string> {
  const flags = ['--data-dir', DATA, '--min-free-space', '0', ...process.argv.slice(2)]
  const child = Bun.spawn([process.execPath, join(SOURCE, 'main.ts'), 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  server = child
  let said = ''
  const decoder = new TextDecoder()
  for await (const bytes of child.stdout) {
    said += decoder.decode(bytes, { stream: true })
    if (/^Data:/m.test(said)) break
  }
  return said.split('\n').find((line) => line.startsWith('Open:')) ?? 'It does not start: mend it, and save.'
}

async function restart(changed: string): Promise<void> {
  const began = performance.now()
  // Use SIGKILL: a killed server loses nothing, and ends at once.
  server?.kill('SIGKILL')
  await server?.exited
  if (changed.endsWith('en.json')) await writeDeclaration()
  const line = await serve()
  console.log(`${changed}: ${Math.round(performance.now() - began)} ms. ${line}`)
}

/** Restarts once more if a file changed during a restart. */
function watchSource(): void {
  let waiting: string | null = null
  let isBusy = false
  async function next(): Promise<void> {
    if (isBusy) return
    isBusy = true
    while (waiting !== null) {
      await Bun.sleep(SETTLED_MS)
      const changed = waiting
      waiting = null
      await restart(changed)
    }
    isBusy = false
  }
  watch(SOURCE, { recursive: true }, (_, name) => {
    waiting = name ?? 'src'
    void next()
  })
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    server?.kill('SIGKILL')
    process.exit()
  })
rmSync(DATA, { recursive: true, force: true })
mkdirSync(DATA, { recursive: true, mode: 0o700 })
await seed(DATA)
watchSource()
console.log(await serve())
console.log(`Sign in: ${ADMIN.email} with the password ${ADMIN.password}`)
