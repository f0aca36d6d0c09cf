// A release as it was received: a file that anybody may have made, and its signature. It is not run, and not readable by
// others, until the signature of the copied bytes has been verified.

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import {
  hashForSigning,
  type PublicKey,
  parseSignature,
  type Signature,
  verifySignature,
} from '../crypto/minisign.ts'
import { DomainError } from '../domain/errors.ts'
import { parseReleaseComment, problemOfRelease, type Release } from '../domain/release.ts'
import { codeOf } from '../domain/system-errors.ts'

const PIECE_BYTES = 1024 * 1024
const MAX_BYTES = 1024 * 1024 * 1024
const MAX_SIGNATURE_BYTES = 4096
/** Follows no link, which may lead to a file that only root may read. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)

type ReleaseFileOptions = {
  file: string
  /** The path of the copy, which must not exist. */
  staged: string
  keys: readonly PublicKey[]
  /** This program. */
  own: Release
}

/**
 * Copies the file to `staged` (0600) and checks what was copied: who signed it, for which system, and that it is not older.
 * Throws `conflict` with the reason, and then leaves nothing at `staged`.
 */
export async function stageRelease(options: ReleaseFileOptions): Promise<Release> {
  const { file, staged, keys, own } = options
  closeSync(openRegular(file).descriptor)
  const signature = readSignature(`${file}.minisig`)
  // Refuses early, before 100 MB are read. The comment is trusted only after its signature was verified below.
  const claimed = parseReleaseComment(signature.comment)
  try {
    const hash = await hashForSigning(copyPieces(file, staged))
    requireGood({ file, hash, signature, keys })
    if (claimed === null)
      throw refusal(
        `The signed comment of ${file} does not tell version and system: ${JSON.stringify(signature.comment)}.`,
      )
    const problem = problemOfRelease(claimed, own)
    if (problem !== null) throw refusal(`${file} cannot replace this program. ${problem}`)
    return claimed
  } catch (cause) {
    rmSync(staged, { force: true })
    throw cause
  }
}

function requireGood(checked: {
  file: string
  hash: Buffer
  signature: Signature
  keys: readonly PublicKey[]
}): void {
  const { file, hash, signature, keys } = checked
  const verdict = verifySignature(hash, signature, keys)
  if (verdict === 'good') return
  const reasons = {
    'unknown key': `${file} was signed by another key than those that this program trusts`,
    'wrong file': `${file} is not the file that was signed: it is damaged, or somebody changed it`,
    'wrong comment': `The comment in ${file}.minisig was changed after it was signed`,
  }
  throw refusal(`${reasons[verdict]}. Nothing was changed.`)
}

function readSignature(path: string): Signature {
  const { descriptor, size } = openRegular(path)
  try {
    if (size > MAX_SIGNATURE_BYTES) throw refusal(`${path} is too large for a signature.`)
    const bytes = Buffer.alloc(size)
    const read = readSync(descriptor, bytes, 0, size, 0)
    const signature = parseSignature(bytes.subarray(0, read).toString('utf8'))
    if (signature !== null) return signature
    throw refusal(`${path} is not a signature of minisign in its prehashed form.`)
  } finally {
    closeSync(descriptor)
  }
}

/** Yields what it has written, so that exactly these bytes are checked. */
async function* copyPieces(from: string, to: string): AsyncGenerator<Uint8Array> {
  const { descriptor, size } = openRegular(from)
  if (size > MAX_BYTES) {
    closeSync(descriptor)
    throw refusal(`${from} is too large for a program.`)
  }
  const target = openSync(to, 'wx', 0o600)
  try {
    const piece = Buffer.alloc(PIECE_BYTES)
    for (let copied = 0; copied <= MAX_BYTES; ) {
      const read = readSync(descriptor, piece, 0, piece.length, null)
      if (read === 0) break
      const bytes = piece.subarray(0, read)
      for (let written = 0; written < read; ) written += writeSync(target, bytes, written, read - written)
      copied += read
      yield bytes
    }
    fsyncSync(target)
  } finally {
    closeSync(target)
    closeSync(descriptor)
  }
}

/** Throws for anything but a plain file: a link, a folder, a pipe that never ends. */
function openRegular(path: string): { descriptor: number; size: number } {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw refusal(`There is no ${path}.${missingSignature(path)}`)
  if (!found.isFile())
    throw refusal(
      `${path} is not a plain file${found.isSymbolicLink() ? ' but a link: name the file that it leads to' : ''}.`,
    )
  try {
    const descriptor = openSync(path, OPEN_FLAGS)
    const { size } = fstatSync(descriptor)
    return { descriptor, size }
  } catch (cause) {
    if (codeOf(cause) === 'ELOOP') throw refusal(`${path} is not a plain file.`)
    throw cause
  }
}

function missingSignature(path: string): string {
  return path.endsWith('.minisig') ? ' It comes with the release, and has to lie beside it.' : ''
}

function refusal(message: string): DomainError {
  return new DomainError('conflict', message)
}
