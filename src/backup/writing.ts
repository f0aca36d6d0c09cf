// Writes a backup as a stream: a tar of its manifest and members, which any tar program can list.

import { createTarPacker } from 'modern-tar'
import { type BackupMember, MANIFEST, type Manifest } from './manifest.ts'
import { streamOf } from './pieces.ts'

/** The tar header of a member and the padding after it. */
const BLOCK_BYTES = 1024
const MANIFEST_BYTES = 4096

/** `read` gives exactly the bytes that the member announces. */
export type MemberSource = BackupMember & { read(): ReadableStream<Uint8Array> }

/** `sources` are the members of the manifest, in the same order. Each is read when its turn comes. */
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

  // Passes a failure on to the reader of the stream.
  addAll().catch((cause) => controller.error(cause))
  return readable
}

/** Estimates the size of the stream, sealed or not. */
export function estimateBytes(sources: readonly MemberSource[]): number {
  return sources.reduce((sum, { bytes }) => sum + bytes + BLOCK_BYTES, MANIFEST_BYTES)
}
