// Reads the colour and the logo of this server from its settings and the logo's file. Its texts are in
// operating/appearance.ts.

import { readFile, stat } from 'node:fs/promises'
import { DomainError } from '../domain/errors.ts'
import { explainSystemError } from '../domain/system-errors.ts'
import { type Logo, MAX_LOGO_BYTES, recogniseLogo } from '../pages/frame/logo.ts'
import type { Config } from '../settings/table.ts'

export type Branding = Awaited<ReturnType<typeof readBranding>>

/** Throws `conflict` for a logo that cannot be used. Call it before the store is opened. */
export async function readBranding({ brandColor: color, brandLogo }: Config) {
  const logo = brandLogo === null ? null : await readLogo(brandLogo)
  return { color, logo }
}

async function readLogo(path: string): Promise<Logo> {
  const refuse = (why: string) => new DomainError('conflict', `--brand-logo ${path}: ${why}`)
  let bytes: Uint8Array<ArrayBuffer>
  try {
    const found = await stat(path)
    if (!found.isFile()) throw refuse('is not a file')
    if (found.size > MAX_LOGO_BYTES)
      throw refuse(`has ${found.size} bytes, and a logo may have ${MAX_LOGO_BYTES} (256 KiB)`)
    bytes = await readFile(path)
  } catch (cause) {
    if (cause instanceof DomainError) throw cause
    throw refuse(`cannot be read (${explainSystemError(cause) ?? String(cause)})`)
  }
  const logo = recogniseLogo(bytes)
  if (logo === null) throw refuse('is no PNG, SVG, JPEG or WebP image')
  return logo
}
