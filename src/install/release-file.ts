// A release file and its signature, both untrusted. Writes nothing from it before the signature is verified.

import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { hashForSigning, type PublicKey, parseSignature, verifySignature } from '../crypto/minisign.ts'
import { conflict } from '../domain/errors.ts'
import { parseReleaseComment, problemOfRelease, type Release } from './release.ts'

const MAX_BYTES = 512 * 1024 * 1024
const MAX_SIGNATURE_BYTES = 4096
/** Follows no symlink, which could point to a file that only root may read, and never blocks on a pipe. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

type ReleaseFileOptions = {
  file: string
  /** The path of the copy, which must not exist. */
  staged: string
  keys: readonly PublicKey[]
  /** The release of this program. */
  own: Release
}

/**
 * Verifies signer, target system and version, then writes the verified bytes to `staged` (mode 0600). Throws
 * `conflict` with the reason before anything is written.
 */
export function stageRelease({ file, staged, keys, own }: ReleaseFileOptions): Release {
  const bytes = readRegular(file, MAX_BYTES)
  const signature = parseSignature(readRegular(`${file}.minisig`, MAX_SIGNATURE_BYTES).toString('utf8'))
  if (signature === null)
    throw conflict(`${file}.minisig is not a signature of minisign in its prehashed form.`)
  const verdict = verifySignature(hashForSigning(bytes), signature, keys)
  if (verdict !== 'good') throw conflict(`${REASONS[verdict](file)}. Nothing was changed.`)
  const claimed = parseReleaseComment(signature.comment)
  if (claimed === null)
    throw conflict(
      `The signed comment of ${file} does not tell version and system: ${JSON.stringify(signature.comment)}.`,
    )
  const problem = problemOfRelease(claimed, own)
  if (problem !== null) throw conflict(`${file} cannot replace this program. ${problem}`)
  writeFileSync(staged, bytes, { mode: 0o600, flag: 'wx', flush: true })
  return claimed
}

const REASONS = {
  'unknown key': (file: string) => `${file} was signed by another key than those that this program trusts`,
  'wrong file': (file: string) => `${file} is not the file that was signed: it is damaged, or was changed`,
  'wrong comment': (file: string) => `The comment in ${file}.minisig was changed after it was signed`,
}

/** Reads a regular file. Throws `conflict` for a symlink, a folder, a pipe or a file over `maxBytes`. */
function readRegular(path: string, maxBytes: number): Buffer {
  const found = lstatSync(path, { throwIfNoEntry: false })
  const hint = path.endsWith('.minisig') ? ' It comes with the release, and has to lie beside it.' : ''
  if (found === undefined) throw conflict(`There is no ${path}.${hint}`)
  if (found.isSymbolicLink()) throw conflict(`${path} is a symlink: name the file that it points to.`)
  using closing = new DisposableStack()
  const descriptor = closing.adopt(openSync(path, OPEN_FLAGS), closeSync)
  const opened = fstatSync(descriptor)
  if (!opened.isFile()) throw conflict(`${path} is not a plain file.`)
  if (opened.size > maxBytes) throw conflict(`${path} is too large to belong to a release.`)
  return readFileSync(descriptor)
}
