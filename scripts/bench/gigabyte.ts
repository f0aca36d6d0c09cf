// Uploads and downloads a file of a gigabyte.

import { residentMebibytes } from './processes.ts'

const MIB = 1024 * 1024
export const SIZE = 1024 * MIB
const SAMPLE_MS = 50
const BOUNDARY = 'oncebox-bench'

export interface Owner {
  readonly url: string
  readonly token: string
}

/** In MiB per second. */
export function rateOf(milliseconds: number): number {
  return SIZE / MIB / (milliseconds / 1000)
}

export async function timed<T>(work: () => Promise<T>): Promise<{ result: T; rate: number }> {
  const began = performance.now()
  const result = await work()
  return { result, rate: rateOf(performance.now() - began) }
}

/** Resolves to the download link. */
export async function upload({ url, token }: Owner): Promise<string> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
  }
  const created = await fetch(url, { method: 'POST', headers, body: multipartBody() })
  if (created.status !== 201)
    throw new Error(`an upload was answered ${created.status}: ${await created.text()}`)
  const { url_token } = (await created.json()) as { url_token: string }
  const { files } = (await (await fetch(`${url}/${url_token}`)).json()) as { files: { url: string }[] }
  return files[0]?.url ?? ''
}

function multipartBody(): ReadableStream<Uint8Array> {
  const chunk = Buffer.alloc(256 * 1024, 7)
  const disposition = 'Content-Disposition: form-data; name="push[files][]"; filename="big"'
  let sent = -1
  return new ReadableStream({
    pull(controller) {
      if (sent < 0) controller.enqueue(Buffer.from(`--${BOUNDARY}\r\n${disposition}\r\n\r\n`))
      else if (sent < SIZE / chunk.length) controller.enqueue(chunk)
      else {
        controller.enqueue(Buffer.from(`\r\n--${BOUNDARY}--\r\n`))
        controller.close()
      }
      sent += 1
    },
  })
}

export async function download(url: string): Promise<void> {
  let read = 0
  for await (const chunk of (await fetch(url)).body ?? []) read += chunk.length
  if (read !== SIZE) throw new Error(`a download gave ${read} of ${SIZE} bytes`)
}

/** Watches a value. The returned function stops and returns the maximum. */
export function watchMemory(pid: number): () => number {
  let most = 0
  const timer = setInterval(() => {
    most = Math.max(most, residentMebibytes(pid) ?? 0)
  }, SAMPLE_MS)
  return () => {
    clearInterval(timer)
    return most
  }
}
