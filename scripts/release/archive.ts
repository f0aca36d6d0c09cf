// Makes reproducible tar archives: the caller gives owner, mode and time, and nothing is read from the disk.

import { type Pack, pack } from 'tar-stream'

export type Entry = {
  /** The path, without a leading slash. A folder ends with a slash. */
  path: string
  mode: number
  bytes?: Uint8Array
  /** The id of the user and the group; root by default. */
  owner?: number
}

/** Packs the entries. `time` is in seconds, for all entries. */
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

/** Resolves to all bytes of a stream. */
function collect(stream: Pack): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  return new Promise((resolve, reject) => {
    stream.on('data', (piece) => piece instanceof Uint8Array && pieces.push(piece))
    stream.on('end', () => resolve(Buffer.concat(pieces)))
    stream.on('error', reject)
  })
}
