// Writes a backup as a stream: a tar of its manifest and members, which any tar program can list.

import { createTarPacker } from 'modern-tar'
import { type BackupMember, MANIFEST, type Manifest } from './manifest.ts'
import { streamOf } from './pieces.ts'

/** A header and the filling after a body. */
const BLOCK_BYTES = 1024
const MANIFEST_BYTES = 4096

/** `read` gives exactly the bytes that the member announces. */
export type MemberSource = BackupMember & { read(): ReadableStream<Uint8Array> }

/** `sources` are the members of the manifest, in its order. The readers are called one after the other, in their turn. */
export function writeBackup(
  manifest: Manifest,
  sources: readonly MemberSource[],
): ReadableStream<Uint8Array> {
  const list = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  const { readable, controller } = createTarPacker()
  const mtime = new Date(manifest.madeAt)

  async function add(name: string, bytes: number, body: ReadableStream<Uint8Array>): Promise<void> {
    await body.pipeTo(controller.add({ name, size: bytes, mtime, mode: 0o600 }))
  }

  async function addAll(): Promise<void> {
    await add(MANIFEST, list.length, streamOf(list))
    for (const { name, bytes, read } of sources) await add(name, bytes, read())
    controller.finalize()
  }

  // The reader of the stream is told of a failure.
  addAll().catch((cause) => controller.error(cause))
  return readable
}

/** About how many bytes the stream has, sealed or not. */
export function estimateBytes(sources: readonly MemberSource[]): number {
  return sources.reduce((sum, { bytes }) => sum + bytes + BLOCK_BYTES, MANIFEST_BYTES)
}
