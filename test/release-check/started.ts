// Starts an executable of a release and uses it: creates a push, retrieves it twice, and stops the server.

import { expect } from 'bun:test'

const START_MS = 120_000

export type Started = { url: string; stop: () => Promise<number> }

/** Starts `command`, which serves on a free port. Rejects with its output if it does not start. */
export async function start(command: readonly string[], env: Record<string, string> = {}): Promise<Started> {
  const child = Bun.spawn([...command], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const complaint = new Response(child.stderr).text()
  const late = setTimeout(() => child.kill(9), START_MS)
  const url = await addressIn(child.stdout)
  clearTimeout(late)
  const stop = async () => {
    child.kill('SIGTERM')
    return child.exited
  }
  if (url !== null) return { url, stop }
  child.kill(9)
  throw new Error(`${command.join(' ')} did not start: ${await complaint}`)
}

async function addressIn(output: ReadableStream<Uint8Array>): Promise<string | null> {
  const decoder = new TextDecoder()
  let printed = ''
  for await (const bytes of output) {
    printed += decoder.decode(bytes, { stream: true })
    const port = /^Open: +https?:\/\/\S+:(\d+)/m.exec(printed)?.[1]
    if (port !== undefined) return `http://127.0.0.1:${port}`
  }
  return null
}

/** A push with one view opens once. */
export async function use({ url }: Pick<Started, 'url'>): Promise<void> {
  const created = await fetch(`${url}/api/v2/pushes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ push: { payload: 'correct horse', expire_after_views: 1 } }),
  })
  expect(created.status).toBe(201)
  const { url_token: urlToken }: { url_token: string } = await created.json()
  const view = async () => (await fetch(`${url}/api/v2/pushes/${urlToken}`)).json()
  expect(await view()).toMatchObject({ payload: 'correct horse', views_remaining: 0 })
  expect(await view()).toMatchObject({ payload: null, expired: true })
}
