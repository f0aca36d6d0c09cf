// Formats sizes in powers of 1024, like the settings. Browsers run this too, for chosen files.

import { isRightToLeft } from './direction.ts'

/** Languages with units of their own. */
const BINARY_UNITS: Record<string, readonly string[]> = { fr: ['Kio', 'Mio', 'Gio', 'Tio'] }

/** Returns a function that formats a number of bytes, with a non-breaking space before the unit. */
export function createSayBytes(language: string): (size: number) => string {
  // Use the long form for single bytes: in English the short form is "7 byte", without a plural.
  const byteCount = new Intl.NumberFormat(language, { style: 'unit', unit: 'byte', unitDisplay: 'long' })
  const amounts = new Intl.NumberFormat(language, { maximumFractionDigits: 1 })
  const units = BINARY_UNITS[language] ?? ['KiB', 'MiB', 'GiB', 'TiB']
  return (size) => {
    const power = Math.min(units.length, Math.floor(Math.log2(Math.max(1, size)) / 10))
    const unit = units[power - 1]
    if (unit === undefined) return byteCount.format(size)
    const text = `${amounts.format(size / 1024 ** power)}\u00a0${unit}`
    // Number and unit run left to right, in Arabic too.
    return isRightToLeft(language) ? `\u2066${text}\u2069` : text
  }
}
