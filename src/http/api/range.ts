// The Range header (RFC 9110, 14.1.2): single ranges of bytes.

import type { Span } from '../../services/pushes/downloads.ts'

/** null for what is no single range of bytes, which is then ignored. */
export function parseRange(header: string, size: number): Span | null | 'unsatisfiable' {
  const match = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header)
  const [, first = '', last = ''] = match ?? []
  if (first === '' && last === '') return null
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null
  return start < end ? { start, end } : 'unsatisfiable'
}
