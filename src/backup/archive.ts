// The format of a backup: a tar, which any tar program can list, of a manifest and the members that it names
// with their checksums. A backup is untrusted input: only members of the manifest are read, and never more
// bytes than it lists.

import { createTarDecoder, createTarPacker, type ParsedTarEntry } from 'modern-tar'
import { streamOf } from '../age/streams.ts'
import { createDigest } from '../crypto/digest.ts'
import { DomainError } from '../domain/errors.ts'
import { codeOf, messageOf } from '../domain/system-errors.ts'
import { membersOf } from '../store/folder/notes.ts'
import { damagedBackup, unfitBackup } from './refusals.ts'
import { asyncPieces, readOpen } from './streams.ts'

const MANIFEST = 'manifest.json'
const MAX_MANIFEST_BYTES = 64 * 1024
const FORMAT = 1
const PROGRAM = 'oncebox'
/** The tar header of a member and the padding after it. */
const BLOCK_BYTES = 1024

/** The members that a backup may hold, in this order, and the maximum size of each in bytes. */
const MEMBERS = {
  'settings.json': 1024 * 1024,
  'instance.key': 64 * 1024,
  'tls-authority.pem': 256 * 1024,
  'oncebox.db': Number.MAX_SAFE_INTEGER,
} as const

export type MemberName = keyof typeof MEMBERS

/** `sha256` in lower-case hexadecimal digits. */
export type BackupMember = { name: MemberName; bytes: number; sha256: string }

/** `read` yields exactly the `bytes` bytes of the member. */
export type MemberSource = BackupMember & { read(): AsyncIterable<Uint8Array> }

type Manifest = ReturnType<typeof createManifest>

/** `version`: of the program that makes the backup. `madeAt`: ISO 8601 in UTC. */
export function createManifest(
  { version, madeAt }: { version: string; madeAt: string },
  members: readonly BackupMember[],
) {
  const listed = members.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 }))
  return { format: FORMAT, program: PROGRAM, version, madeAt, members: listed }
}

export function memberOfBytes(name: MemberName, bytes: Uint8Array): Promise<MemberSource> {
  return memberOf(name, () => asyncPieces(bytes))
}

/** Reads the file once for its checksum. It must not change afterwards. */
export function memberOfFile(name: MemberName, descriptor: number): Promise<MemberSource> {
  return memberOf(name, () => readOpen(descriptor))
}

async function memberOf(name: MemberName, read: MemberSource['read']): Promise<MemberSource> {
  const digest = createDigest()
  let bytes = 0
  for await (const piece of read()) {
    digest.update(piece)
    bytes += piece.length
  }
  return { name, bytes, sha256: digest.digest('hex'), read }
}

/** Returns the tar. `sources` are the members of the manifest in its order; each is read lazily. */
export function writeBackup(
  manifest: Manifest,
  sources: readonly MemberSource[],
): ReadableStream<Uint8Array> {
  const list = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  const { readable, controller } = createTarPacker()
  const mtime = new Date(manifest.madeAt)

  async function addAll(): Promise<void> {
    const all = [{ name: MANIFEST, bytes: list.length, read: () => asyncPieces(list) }, ...sources]
    for (const { name, bytes, read } of all)
      await streamOf(read()).pipeTo(controller.add({ name, size: bytes, mtime, mode: 0o600 }))
    controller.finalize()
  }

  // Forwards a failure to the reader of the stream.
  addAll().catch((cause) => controller.error(cause))
  return readable
}

/** Estimates the size of the whole backup in bytes, encrypted or not. */
export function estimateBytes(members: readonly BackupMember[]): number {
  return members.reduce((sum, { bytes }) => sum + bytes + BLOCK_BYTES, 4 * BLOCK_BYTES)
}

type ReadingOptions = {
  /** The path of the backup, for error messages. */
  file: string
  /** Called with the manifest, before the first member is read. May throw to stop reading. */
  onManifest?: (manifest: Manifest) => Promise<void> | void
  /**
   * Receives the bytes of a member before its checksum is verified: do not use them until `readBackup`
   * resolves.
   */
  onPiece: (name: MemberName, piece: Uint8Array) => Promise<void> | void
}

/**
 * Resolves once the whole tar is read and intact. Throws `conflict`, naming the file, if it is not; system
 * errors pass through. Always closes the source.
 */
export async function readBackup(
  tar: ReadableStream<Uint8Array>,
  options: ReadingOptions,
): Promise<Manifest> {
  const decoder = createTarDecoder({ strict: true })
  const stop = new AbortController()
  const piping = tar.pipeTo(decoder.writable, { signal: stop.signal })
  // The reader of the entries throws the failure, so ignore it here.
  piping.catch(() => undefined)
  try {
    return await readEntries(decoder.readable[Symbol.asyncIterator](), options)
  } catch (cause) {
    throw explain(cause, options.file)
  } finally {
    stop.abort()
    await piping.catch(() => undefined)
  }
}

type Entries = AsyncIterator<ParsedTarEntry>

async function readEntries(
  entries: Entries,
  { file, onManifest, onPiece }: ReadingOptions,
): Promise<Manifest> {
  const first = await readNext(entries).catch((cause: unknown) => {
    throw /\b(tar|eof)\b/i.test(messageOf(cause)) ? unfitBackup(file, 'it is not a tar archive') : cause
  })
  const list: Uint8Array[] = []
  const isList = first?.header.name === MANIFEST && first.header.size <= MAX_MANIFEST_BYTES
  if (!isList) throw unfitBackup(file, `it does not begin with ${MANIFEST}`)
  await readEntry(first, (piece) => void list.push(piece))
  const manifest = parseManifest(Buffer.concat(list).toString('utf8'), file)
  await onManifest?.(manifest)
  for (const { name, bytes, sha256 } of manifest.members) {
    const entry = await readNext(entries)
    if (entry?.header.name !== name || entry.header.type !== 'file' || entry.header.size !== bytes)
      throw damagedBackup(file, `${name} is not at the position or of the size that its manifest says`)
    const found = await readEntry(entry, (piece) => onPiece(name, piece))
    if (found !== sha256) throw damagedBackup(file, `the checksum of ${name} differs from the manifest`)
  }
  if ((await readNext(entries)) !== null) throw damagedBackup(file, 'it holds more than its manifest lists')
  return manifest
}

/** Resolves to null at the end. */
async function readNext(entries: Entries): Promise<ParsedTarEntry | null> {
  const { done, value } = await entries.next()
  return done ? null : value
}

/** Resolves to the checksum of the entry. */
async function readEntry(
  { body }: ParsedTarEntry,
  take: (piece: Uint8Array) => Promise<void> | void,
): Promise<string> {
  const digest = createDigest()
  for await (const piece of body) {
    digest.update(piece)
    await take(piece)
  }
  return digest.digest('hex')
}

/** Throws `conflict`, naming `file`, unless the text is a manifest of this format. */
function parseManifest(text: string, file: string): Manifest {
  const { format, program, version, madeAt, members } = membersOf(text)
  if (program !== PROGRAM || typeof format !== 'number')
    throw unfitBackup(file, 'its manifest is not from Oncebox')
  if (format > FORMAT) throw unfitBackup(file, `a later version made it (format ${format})`)
  const listed = (Array.isArray(members) ? members : []).flatMap(parseMember)
  const order = Object.keys(MEMBERS).filter((name) => listed.some((member) => member.name === name))
  const isWhole =
    Array.isArray(members) &&
    listed.length === members.length &&
    order.join() === listed.map(({ name }) => name).join() &&
    order.includes('oncebox.db') &&
    isWord(version) &&
    isTime(madeAt)
  if (!isWhole) throw damagedBackup(file, 'its manifest is invalid')
  return createManifest({ version, madeAt }, listed)
}

function parseMember(read: unknown): BackupMember[] {
  const { name, bytes, sha256 }: Record<string, unknown> = { ...Object(read) }
  const isSize = typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 0
  const isDigest = typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)
  return isMemberName(name) && isSize && isDigest && bytes <= MEMBERS[name] ? [{ name, bytes, sha256 }] : []
}

function isMemberName(value: unknown): value is MemberName {
  return typeof value === 'string' && Object.hasOwn(MEMBERS, value)
}

/** Whether a version is safe to print to a terminal. */
function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,64}$/.test(value)
}

function isTime(value: unknown): value is string {
  const time = typeof value === 'string' ? new Date(value) : new Date(Number.NaN)
  return !Number.isNaN(time.getTime()) && time.toISOString() === value
}

function explain(cause: unknown, file: string): unknown {
  if (cause instanceof DomainError || codeOf(cause) !== '') return cause
  const message = messageOf(cause)
  return damagedBackup(file, /truncated/i.test(message) ? 'it ends too early' : message.replace(/\.$/, ''))
}
