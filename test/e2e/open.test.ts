// The compiled binary on a desktop: a running server is shown; a killed one is not mistaken for running.

import { afterEach, expect, test } from 'bun:test'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createStage, runBinary } from '../support/binary.ts'
import { waitUntil } from '../support/waiting.ts'

const stage = createStage()
afterEach(stage.clear)

/** Sets up a desktop whose browser records its arguments. */
function desktop() {
  const folder = stage.folder()
  const seen = join(folder, 'seen')
  writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\nprintf '%s\\n' "$1" >> ${seen}\n`)
  chmodSync(join(folder, 'xdg-open'), 0o755)
  const env = { DISPLAY: ':99', PATH: `${folder}:${process.env.PATH}`, HOME: folder }
  const pages = async () => {
    await waitUntil(() => existsSync(seen) && readFileSync(seen, 'utf8').endsWith('\n'))
    return readFileSync(seen, 'utf8').trim().split('\n')
  }
  return { env, pages }
}

test('open shows the running server of the data folder, and --stop stops it', async () => {
  const server = await stage.start()
  await Bun.file(join(server.dataDir, 'setup-link')).delete()
  const { env, pages } = desktop()
  const opened = await runBinary(['open', '--data-dir', server.dataDir], { env })
  expect(opened).toEqual({ stdout: `Open: ${server.url}\n`, stderr: '', code: 0 })
  expect(await pages()).toEqual([server.url])
  expect((await server.command(['open', '--stop'])).code).toBe(0)
  while (server.isRunning()) await Bun.sleep(20)
  expect(existsSync(join(server.dataDir, 'serve.url'))).toBe(false)
})

test('health is ok while the server answers, and fails after it was killed', async () => {
  const server = await stage.start()
  expect(statSync(join(server.dataDir, 'serve.url')).mode & 0o077).toBe(0)
  expect(await server.command(['health'])).toEqual({ stdout: 'ok\n', stderr: '', code: 0 })
  await server.end('SIGKILL')
  expect(existsSync(join(server.dataDir, 'serve.url'))).toBe(true)
  expect(await server.command(['health'])).toMatchObject({ code: 1, stdout: '' })
  const again = await stage.start({ dataDir: server.dataDir })
  expect((await again.command(['health'])).code).toBe(0)
})

test('health asks a server on a Unix socket, and one with its own certificate', async () => {
  const socket = join(stage.folder(), 'http.sock')
  const dataDir = stage.folder()
  const flags = ['serve', '--data-dir', dataDir, '--host', `unix:${socket}`, '--min-free-space', '0']
  const child = Bun.spawn([join(import.meta.dir, '../../dist/oncebox'), ...flags], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await waitUntil(() => existsSync(join(dataDir, 'serve.url')))
  expect((await runBinary(['health', '--data-dir', dataDir])).stdout).toBe('ok\n')
  child.kill()
  await child.exited
  const secured = await stage.start({ flags: ['--tls', 'auto'] })
  expect((await secured.command(['health'])).stdout).toBe('ok\n')
})
