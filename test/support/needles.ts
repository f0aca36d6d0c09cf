// Searches for secrets in everything that a server leaves behind: its data folder and output.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Started } from './binary.ts'

/** A name for the place, and its bytes. */
export type Place = { where: string; bytes: Buffer }

/** Returns every file under a folder in its current state. Leaves out files that disappear meanwhile. */
export function readFolder(path: string): Place[] {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true })
  return entries.flatMap((entry) => {
    if (!entry.isFile()) return []
    const where = join(entry.parentPath, entry.name)
    try {
      return [{ where, bytes: readFileSync(where) }]
    } catch {
      return []
    }
  })
}

/** Returns the data folder and the output of a server. */
export function readTraces(server: Started): Place[] {
  return [
    ...readFolder(server.dataDir),
    { where: 'standard output', bytes: Buffer.from(server.stdout()) },
    { where: 'standard error', bytes: Buffer.from(server.stderr()) },
  ]
}

/** Returns every encoding in which a text could be stored. */
export function spellingsOf(text: string): Buffer[] {
  const bytes = Buffer.from(text)
  const utf16 = Buffer.from(text, 'utf16le')
  const json = JSON.stringify(text).slice(1, -1)
  const escaped = json.replace(/[^ -~]/g, (character) => `\\u${hex(character.charCodeAt(0), 4)}`)
  const everyByte = [...bytes].map((byte) => `%${hex(byte, 2)}`).join('')
  const texts = [json, escaped, encodeURIComponent(text), everyByte.toUpperCase(), bytes.toString('hex')]
  const base64 = [0, 1, 2].map((offset) => base64At(bytes, offset))
  const base64url = base64.map((spelling) => spelling.replaceAll('+', '-').replaceAll('/', '_'))
  return [
    bytes,
    utf16,
    Buffer.from(utf16).swap16(),
    ...[...texts, ...base64, ...base64url].map((t) => Buffer.from(t)),
  ]
}

/**
 * Returns the part of a longer base64 text that depends only on these bytes, if they begin `offset` bytes
 * after a multiple of three.
 */
function base64At(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
  const end = Math.floor(((offset + bytes.length) * 8) / 6)
  return text.slice(Math.ceil((offset * 8) / 6), end)
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0')
}

/**
 * Returns which needle occurs where. A needle has at least four bytes. Reads the bytes once for all needles.
 */
export function findNeedles<T>(
  places: Place[],
  needles: { name: T; bytes: Uint8Array }[],
): { name: T; where: string }[] {
  const byStart = new Map<number, { name: T; bytes: Buffer }[]>()
  const starts = new Uint8Array(0x10000)
  for (const { name, bytes } of needles) {
    const needle = { name, bytes: Buffer.from(bytes) }
    const start = needle.bytes.readUInt32LE(0)
    starts[start & 0xffff] = 1
    byStart.set(start, [...(byStart.get(start) ?? []), needle])
  }
  const found: { name: T; where: string }[] = []
  for (const { where, bytes } of places) {
    for (let at = 0; at + 4 <= bytes.length; at += 1) {
      if (starts[(bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)] === 0) continue
      for (const needle of byStart.get(bytes.readUInt32LE(at)) ?? []) {
        const isThere = bytes.subarray(at, at + needle.bytes.length).equals(needle.bytes)
        if (isThere) found.push({ name: needle.name, where: `${where} at ${at}` })
      }
    }
  }
  return found
}
