// Reads a backup as a stream without trusting it: names, order, sizes and checksums must match its manifest, and the manifest
// must be one that this program could have written.

import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { createDigest } from '../crypto/digest.ts'
import { DomainError } from '../domain/errors.ts'
import { codeOf } from '../domain/system-errors.ts'
import { type BackupMember, MANIFEST, type Manifest, parseManifest } from './manifest.ts'
import { damagedBackup, unfitBackup } from './refusals.ts'
import { type Opener, openSealed, readSeal } from './sealing.ts'

const MAX_MANIFEST_BYTES = 64 * 1024

/** Receives the bytes of one member before its checksum is known to be right: use nothing before `end` is called. */
export type MemberSink = {
  write(piece: Uint8Array): Promise<void> | void
  /** Called after the last byte, when the checksum is right. */
  end?(): Promise<void> | void
}

export type ReadingOptions = {
  /** Names the backup in refusals: its path. */
  file: string
  /** Returns what opens a sealed backup. Not called for other backups. */
  getOpener: (seal: 'passphrase' | 'recipients') => Promise<Opener> | Opener
  /** Called before any member; may throw to read no further. */
  onManifest?: (manifest: Manifest) => Promise<void> | void
  /** Null for a member that is only checked. */
  onMember?: (member: BackupMember) => Promise<MemberSink | null> | MemberSink | null
}

/**
 * Resolves once the whole backup was read and is intact. Throws `conflict`, naming the file, for anything else. Errors of the
 * system and of the sinks pass through. Always closes the source.
 */
export async function readBackup(
  source: ReadableStream<Uint8Array>,
  options: ReadingOptions,
): Promise<Manifest> {
  const tar = await openTar(source, options)
  const decoder = createTarDecoder({ strict: true })
  const stop = new AbortController()
  const piping = tar.pipeTo(decoder.writable, { signal: stop.signal })
  // The reader of the entries gets its failure.
  piping.catch(() => undefined)
  try {
    return await readEntries(decoder.readable.getReader(), options)
  } catch (cause) {
    if (cause instanceof SinkFailure) throw cause.cause
    throw explain(cause, options.file)
  } finally {
    stop.abort()
    await piping.catch(() => undefined)
  }
}

async function openTar(source: ReadableStream<Uint8Array>, { file, getOpener }: ReadingOptions) {
  const { seal, stream } = await readSeal(source, file)
  if (seal === 'none') return stream
  try {
    return await openSealed(stream, { opener: await getOpener(seal), file })
  } catch (cause) {
    if (!stream.locked) await stream.cancel(cause)
    throw cause
  }
}

type Entries = ReadableStreamDefaultReader<ParsedTarEntry>

async function readEntries(entries: Entries, options: ReadingOptions): Promise<Manifest> {
  const { file, onManifest, onMember } = options
  const manifest = parseManifest(await readManifest(await firstEntry(entries, file), file), file)
  await passing(async () => onManifest?.(manifest))
  for (const member of manifest.members) {
    const entry = await nextEntry(entries)
    requireMember(entry, member, file)
    await readMember(entry, { member, file, sink: await passing(async () => onMember?.(member) ?? null) })
  }
  const more = await nextEntry(entries)
  if (more !== null) throw damagedBackup(file, `${nameOf(more)} is in it, and not in its manifest`)
  return manifest
}

/** Null at the end. */
async function nextEntry(entries: Entries): Promise<ParsedTarEntry | null> {
  const { done, value } = await entries.read()
  return done ? null : value
}

/** Reports a file that is not even a tar archive as no backup, instead of as a damaged one. */
async function firstEntry(entries: Entries, file: string): Promise<ParsedTarEntry> {
  const entry = await nextEntry(entries).catch((cause: unknown) => {
    throw NO_TAR.test(messageOf(cause)) ? unfitBackup(file, 'it is no tar archive') : cause
  })
  if (entry === null) throw unfitBackup(file, 'it is empty')
  return entry
}

async function readManifest(entry: ParsedTarEntry, file: string): Promise<string> {
  if (entry.header.name !== MANIFEST)
    throw unfitBackup(file, `it begins with ${nameOf(entry)}, not with ${MANIFEST}`)
  requireFile(entry, file)
  if (entry.header.size > MAX_MANIFEST_BYTES) throw damagedBackup(file, 'its manifest is too large')
  return new Response(entry.body).text()
}

function requireMember(
  entry: ParsedTarEntry | null,
  { name, bytes }: BackupMember,
  file: string,
): asserts entry is ParsedTarEntry {
  if (entry === null) throw damagedBackup(file, `${name} is missing`)
  if (entry.header.name !== name) throw damagedBackup(file, `${nameOf(entry)} is in the place of ${name}`)
  requireFile(entry, file)
  const { size } = entry.header
  if (size !== bytes) throw damagedBackup(file, `${name} has ${size} bytes, and ${bytes} by its manifest`)
}

function requireFile(entry: ParsedTarEntry, file: string): void {
  const { type, linkname } = entry.header
  if (type !== 'file' || linkname) throw damagedBackup(file, `${nameOf(entry)} is no plain file`)
}

type MemberReading = { member: BackupMember; file: string; sink: MemberSink | null }

async function readMember(entry: ParsedTarEntry, { member, file, sink }: MemberReading): Promise<void> {
  const digest = createDigest()
  for await (const piece of entry.body) {
    digest.update(piece)
    await passing(async () => sink?.write(piece))
  }
  if (digest.hex() !== member.sha256)
    throw damagedBackup(file, `${member.name} does not have the checksum of its manifest`)
  await passing(async () => sink?.end?.())
}

/** Wraps an error of the caller's own code, so that it is not explained as damage to the backup. */
class SinkFailure extends Error {}

async function passing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new SinkFailure('the work on a backup failed', { cause })
  }
}

/** A name from the archive, made safe for a terminal. */
function nameOf({ header }: ParsedTarEntry): string {
  return JSON.stringify(header.name.slice(0, 100).replace(/[^\x20-\x7e]/g, '?'))
}

const NO_TAR = /invalid tar|invalid eof|tar number|tar metadata|attributes/i

function explain(cause: unknown, file: string): unknown {
  if (cause instanceof DomainError || /^E[A-Z]+$/.test(codeOf(cause))) return cause
  const message = messageOf(cause)
  if (/truncated/i.test(message)) return damagedBackup(file, 'it ends too early')
  if (/invalid eof/i.test(message)) return damagedBackup(file, 'something follows its end')
  if (NO_TAR.test(message)) return damagedBackup(file, 'a header in it is not readable')
  if (/invalid tag|final chunk|tag too short|length/i.test(message))
    return damagedBackup(file, 'a part of it does not open, so it ends too early or was altered')
  return damagedBackup(file, message.replace(/\.$/, ''))
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
