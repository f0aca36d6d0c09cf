// Parsers for paths in flags and arguments, checked before anything is asked, sent or opened.

import { X509Certificate } from 'node:crypto'
import { accessSync, constants, existsSync, lstatSync, readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ageRecipient, identitiesIn } from '../domain/age-recipient.ts'
import { codeOf, reasonOf, refusalOf } from '../domain/system-errors.ts'
import { type Parsed, type Parser, path } from '../settings/parsers.ts'

const NO_PATH = { problem: 'must be a path' }

/** Stands for standard input or output instead of a path. */
export const STANDARD = '-'

/** Accepts any path. */
export function anyPath(text: string): Parsed<string> {
  return text === '' ? NO_PATH : { value: text }
}

/** Accepts a file that can be read. */
export function readableFile(text: string): Parsed<string> {
  if (text === '') return NO_PATH
  try {
    accessSync(text, constants.R_OK)
    return statSync(text).isDirectory() ? { problem: 'is a folder' } : { value: text }
  } catch (cause) {
    return { problem: `cannot be read: ${refusalOf(cause)}` }
  }
}

/** Reads the text of a file, without a final line break. */
export function fileText(path: string): Parsed<string> {
  const found = readableFile(path)
  if ('problem' in found) return found
  const value = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  return value === '' ? { problem: 'is empty' } : { value }
}

/** Reads a file and keeps its path, for messages that name it. */
export function namedText(path: string): Parsed<{ path: string; text: string }> {
  const found = readableFile(path)
  return 'problem' in found ? found : { value: { path, text: readFileSync(path, 'utf8') } }
}

/** Accepts a regular file to send, or `-` for standard input. */
export function sentFile(text: string): Parsed<string> {
  if (text === STANDARD) return { value: text }
  const found = readableFile(text)
  if ('problem' in found)
    return found.problem === 'is a folder' ? { problem: 'is a folder; pack it into one file first' } : found
  if (statSync(text).isFile()) return found
  return { problem: 'is not a regular file; pipe it in with --file -' }
}

/** Parses public age keys: one key itself, or the path of a file of keys as `age -R` reads it. */
export function recipients(text: string): Parsed<string[]> {
  const isFile = !/^age1/.test(text) && !/^age-secret-key/i.test(text)
  const found = isFile ? fileText(text) : { value: text }
  if ('problem' in found) return found
  const keys = identitiesIn(found.value).map(ageRecipient)
  const wrong = keys.find((key) => 'problem' in key)
  if (wrong !== undefined && 'problem' in wrong) return { ...wrong, isSecret: true }
  const values = keys.flatMap((key) => ('value' in key ? [key.value] : []))
  return values.length === 0 ? { problem: 'holds no public key of age' } : { value: values }
}

/** Parses the path of a file that need not exist yet; its folder must. */
export function newFile(text: string): Parsed<string> {
  if (text === '') return NO_PATH
  try {
    return { problem: lstatSync(text).isDirectory() ? 'is a folder' : 'already exists' }
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') return { problem: `cannot be used: ${reasonOf(cause)}` }
    return existsSync(dirname(text)) ? { value: text } : { problem: `${dirname(text)} does not exist` }
  }
}

export function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}

/** Whether a path names a folder, existing or not. */
export function isNamedAsFolder(path: string): boolean {
  return isFolder(path) || /[/\\]$/.test(path)
}

/**
 * Accepts a new file or any writable folder, so that no view is spent on content that cannot be saved; `-` is
 * standard output.
 */
export function output(text: string): Parsed<string> {
  if (text === '') return NO_PATH
  if (text === STANDARD) return { value: text }
  const whole = resolve(text)
  const existing = findExisting(whole)
  if ('problem' in existing) return existing
  const found = existing.value
  if (!isFolder(found)) return { problem: found === whole ? 'already exists' : `${found} is not a folder` }
  try {
    accessSync(found, constants.W_OK | constants.X_OK)
    return { value: text }
  } catch (cause) {
    return { problem: `${found} cannot be written to: ${refusalOf(cause)}` }
  }
}

/** Returns the path itself if it exists, else the nearest existing folder above it. */
function findExisting(path: string): Parsed<string> {
  try {
    if (lstatSync(path).isSymbolicLink() && !existsSync(path))
      return { problem: 'is a symbolic link to a missing file' }
    return { value: path }
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'ENOENT' || code === 'ENOTDIR') return findExisting(dirname(path))
    return { problem: `cannot be used: ${refusalOf(cause)}` }
  }
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g
const MAX_BYTES = 1024 * 1024

/** Reads the certificates in a file as PEM. A DER file contains one. */
export const certificates: Parser<string> = (text, os) => {
  const named = path(text, os)
  if ('problem' in named) return named
  try {
    const bytes = readFileSync(named.value)
    const given = bytes.length > MAX_BYTES ? [] : (bytes.toString('latin1').match(PEM) ?? [bytes])
    const found = given.map(parseCertificate)
    return found.length > 0 && found.every((certificate) => certificate !== null)
      ? { value: found.join('') }
      : { problem: 'must hold certificates in PEM or DER' }
  } catch (cause) {
    return { problem: `cannot be read: ${refusalOf(cause)}` }
  }
}

function parseCertificate(given: string | Buffer): string | null {
  try {
    return new X509Certificate(given).toString()
  } catch {
    return null
  }
}
