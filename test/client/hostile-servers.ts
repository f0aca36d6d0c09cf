// Shared by the tests of hostile servers: fake servers, and commands with short timeouts.

import { afterEach, beforeEach } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../../src/client/client.ts'
import { createTrial } from '../cli/trial.ts'
import { serveFake } from '../support/socket.ts'

type Given = Parameters<typeof createTrial>[0] & { patienceMs?: number }
export type Answer = (request: Request) => Response | Promise<Response>

export const GIB = 1024 ** 3
export const MIB = 1024 ** 2
/** Timeout of a client that should not time out, even on a busy machine. */
const PATIENCE_MS = 30_000
/** Timeout of a client that should give up. */
export const LITTLE_PATIENCE_MS = 400
export const TOKEN = 'abcdefgh'

/** Characters that a terminal interprets, hides or reorders. */
export const HARMFUL = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u
export const HARM =
  '\u001b[2J\u001b]0;x\u0007\u009b31m\u202etxt\u2066\u200f\u061c\u200b\u2028\r\nNEXT\ttab\u007f\u0085'

/** Gives each test an empty folder, and stops its servers. */
export function useHostileServers() {
  let folder: string
  const stops: (() => void)[] = []

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'oncebox-hostile-'))
  })
  afterEach(() => {
    for (const stop of stops.splice(0)) stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const path = (name: string) => join(folder, name)

  function serve(answer: Answer): string {
    const fake = serveFake(answer)
    stops.push(fake.stop)
    return fake.url
  }

  /** A server on raw sockets. Calls `talk` when a request arrives. */
  async function serveRaw(talk: (socket: Socket) => void): Promise<string> {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('data', () => talk(socket))
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    server.listen(0, '127.0.0.1', resolve)
    await promise
    stops.push(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    return `http://127.0.0.1:${address.port}`
  }

  async function run(argv: string[], { patienceMs = PATIENCE_MS, ...given }: Given = {}) {
    const trial = createTrial({ home: folder, input: 'secret', ...given })
    // The same client, with another timeout.
    trial.app.openClient = async (asked) =>
      createClient({ ...asked, userAgent: 'test', patienceMs, newBoundary: () => 'boundary' })
    const code = await trial.run(...argv)
    return { code, out: trial.out.join('\n'), err: trial.err.join('\n'), all: trial.text() }
  }

  /** Builds the JSON of a push with one file at `url`, and the response for the file. */
  function withFile(size: number | null, answer: Answer): string {
    const url: string = serve((request) => {
      if (new URL(request.url).pathname !== '/file')
        return pushOf({ files: [{ filename: 'a', size, url: `${url}/file` }] })
      return answer(request)
    })
    return url
  }

  const getFile = (url: string) => run(['get', `${url}/p/${TOKEN}`, '--output', path('in/')])

  return { path, serve, serveRaw, run, withFile, getFile }
}

export function pushOf(members: object): Response {
  return Response.json({ url_token: TOKEN, payload: null, files: [], expired: false, ...members })
}

/** Writes without end, as fast as the client reads. */
export function flood(socket: Socket, chunk: Buffer): void {
  const more = () => {
    while (!socket.destroyed) if (!socket.write(chunk)) return socket.once('drain', more)
  }
  more()
}

/** Sends the bytes and then closes the connection. */
export function cutOff(bytes: Uint8Array): ReadableStream {
  let sent = false
  return new ReadableStream({
    async pull(controller) {
      if (sent) {
        await Bun.sleep(50)
        return controller.error('cut off, as the test wants')
      }
      sent = true
      controller.enqueue(bytes)
    },
  })
}
