// Shared by the tests of client commands: a real Oncebox, fake servers, and a folder for each test.

import { afterAll, afterEach, beforeAll, beforeEach } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SocketServer, serveFake, startOnSocket } from '../../support/socket.ts'
import { createTrial, type Trial } from '../trial.ts'

type Given = Parameters<typeof createTrial>[0]

/** Starts a server for the tests of a file. */
export function useClients() {
  let server: Awaited<ReturnType<typeof startOnSocket>>
  let token: string
  let folder: string
  const fakes: SocketServer[] = []

  beforeAll(async () => {
    server = await startOnSocket()
    token = await server.addAccount('ann@example.org')
  })
  afterAll(() => server.close())
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'oncebox-client-'))
  })
  afterEach(() => {
    for (const fake of fakes.splice(0)) fake.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  function tryOut(given: Given = {}): Trial {
    return createTrial({ home: folder, ...given, env: { ONCEBOX_SERVER: server.url, ...given?.env } })
  }

  function signedIn(given: Given = {}): Trial {
    return tryOut({ ...given, env: { ONCEBOX_TOKEN: token, ...given?.env } })
  }

  /** Returns the link that `push` printed. */
  async function push(trial: Trial, ...argv: string[]): Promise<string> {
    const code = await trial.run('push', ...argv)
    if (code !== 0) throw new Error(trial.text())
    return trial.out[0] ?? ''
  }

  async function get(link: string, ...argv: string[]) {
    const trial = tryOut()
    return { code: await trial.run('get', link, ...argv), out: trial.out.join(''), err: trial.err }
  }

  function fake(answer: (request: Request) => Response | Promise<Response>): string {
    const made = serveFake(answer)
    fakes.push(made)
    return made.url
  }

  const place = {
    get server() {
      return server
    },
    /** The API token of ann@example.org. */
    get token() {
      return token
    },
    get folder() {
      return folder
    },
  }
  return { place, path: (name: string) => join(folder, name), tryOut, signedIn, push, get, fake }
}

export function fileAt(url: string, size: number) {
  return { filename: 'a.bin', size, url: `${url}/file` }
}

export function pushOf(files: unknown): Response {
  const payload = Array.isArray(files) && files.length === 0 ? 'secret' : null
  return Response.json({ url_token: 'abcdefgh', payload, files, expired: false })
}

/** Sends the bytes and then closes the connection. */
export function cutOff(bytes: Uint8Array): ReadableStream {
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(bytes)
      await Bun.sleep(100)
      controller.error(new Error('cut'))
    },
  })
}
