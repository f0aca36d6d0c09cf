// Members of a backup made from bytes or open files.

import { createDigest } from '../crypto/digest.ts'
import type { MemberName } from './manifest.ts'
import { readFileOnce, streamFile, streamOf } from './pieces.ts'
import type { MemberSource } from './writing.ts'

export function memberOfBytes(name: MemberName, bytes: Uint8Array): MemberSource {
  const digest = createDigest()
  digest.update(bytes)
  return { name, bytes: bytes.length, sha256: digest.hex(), read: () => streamOf(bytes) }
}

/** Reads the file once for its checksum. It must not change afterwards. */
export async function memberOfFile(name: MemberName, descriptor: number): Promise<MemberSource> {
  const digest = createDigest()
  let bytes = 0
  await readFileOnce(descriptor, (piece) => {
    digest.update(piece)
    bytes += piece.length
  })
  return { name, bytes, sha256: digest.hex(), read: () => streamFile(descriptor) }
}
