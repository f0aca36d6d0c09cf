// Tar archives with the same bytes every time: owner, mode and time are given, and nothing is read from the
// disk.

import { type Pack, pack } from 'tar-stream'

export type Entry = {
  /** Without a slash at its start. A folder ends with one. */
  path: string
  mode: number
  bytes?: Uint8Array
  /** The number of the user and of the group; root without it. */
  owner?: number
}

/** `time` in seconds, for all entries. */
export async function tarOf(entries: readonly Entry[], time: number): Promise<Uint8Array<ArrayBuffer>> {
  const archive = pack()
  const whole = collect(archive)
  for (const { path, mode, bytes, owner = 0 } of entries) {
    const type = path.endsWith('/') ? 'directory' : 'file'
    const header = { name: path, mode, type, uid: owner, gid: owner, mtime: new Date(time * 1000) } as const
    await new Promise<void>((resolve, reject) => {
      archive.entry(header, Buffer.from(bytes ?? []), (problem) => (problem ? reject(problem) : resolve()))
    })
  }
  archive.finalize()
  return whole
}

/** All bytes of a stream, once it has ended. */
function collect(stream: Pack): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  return new Promise((resolve, reject) => {
    stream.on('data', (piece) => piece instanceof Uint8Array && pieces.push(piece))
    stream.on('end', () => resolve(Buffer.concat(pieces)))
    stream.on('error', reject)
  })
}
