// The link tokens of created pushes in one buffer, because a million strings would take 60 MB.

const MEMBER = Buffer.from('"url_token":"')
const QUOTE = '"'.charCodeAt(0)

export interface TokenList {
  count(): number
  /** Bytes in a token; 0 before the first one. */
  width(): number
  /** Adds the token in the response to a create; false when it has none. */
  addFrom(answer: Buffer): boolean
  copy(place: number, target: Buffer, at: number): void
}

export function createTokenList(): TokenList {
  let packed: Buffer = Buffer.alloc(0)
  let width = 0
  let count = 0

  function addFrom(answer: Buffer): boolean {
    const member = answer.indexOf(MEMBER)
    const start = member + MEMBER.length
    const end = answer.indexOf(QUOTE, start)
    if (member < 0 || end < 0) return false
    if (count === 0) width = end - start
    if (width === 0 || end - start !== width) return false
    if ((count + 1) * width > packed.length) packed = enlarged(packed, width)
    answer.copy(packed, count * width, start, end)
    count += 1
    return true
  }

  return {
    count: () => count,
    width: () => width,
    addFrom,
    copy: (place, target, at) => void packed.copy(target, at, place * width, (place + 1) * width),
  }
}

function enlarged(packed: Buffer, width: number): Buffer {
  const larger = Buffer.alloc(Math.max(packed.length * 2, 65_536 * width))
  packed.copy(larger)
  return larger
}
