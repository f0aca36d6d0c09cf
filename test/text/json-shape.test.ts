import { describe, expect, test } from 'bun:test'
import { findExcess } from '../../src/text/json-shape.ts'

const shapeOf = (json: string, most = { depth: 3, members: 4 }) => findExcess(json, most)

describe('depth', () => {
  test.each([
    ['[[[]]]', null],
    ['[[[[]]]]', 'depth'],
    ['{"a":{"b":{"c":1}}}', null],
    ['{"a":{"b":{"c":{}}}}', 'depth'],
    ['[[],[],[[]]]', null],
    ['"[[[["', null],
    ['["\\"[[[[", "{{{{\\\\"]', null],
    ['["\\\\", [[[]]]]', 'depth'],
  ] as const)('%s: %p', (json, excess) => {
    expect(shapeOf(json)).toBe(excess)
  })
})

describe('members', () => {
  test.each([
    ['[1,2,3,4]', null],
    ['[1,2,3,4,5]', 'members'],
    ['{"a":1,"b":[2,3]}', null],
    ['{"a":1,"b":[2,3,4]}', 'members'],
    ['{"a":1,"a":1,"a":1,"a":1,"a":1}', 'members'],
    ['{"__proto__":{"a":{}},"b":[ \n\t ],"c":""}', null],
    ['[[],[],[],[ ]]', null],
    ['[[],[],[],[""]]', 'members'],
    ['[",,,,,,,,", "\\",,,,,,"]', null],
    ['[\u00a0é,"[,€,,,,"]', null],
  ] as const)('%s: %p', (json, excess) => {
    expect(shapeOf(json)).toBe(excess)
  })
})

test.each(['', ']]]]', '[1,', '"open', '"\\', '{"a"'])('malformed JSON is left to the parser: %s', (json) => {
  expect(shapeOf(json)).toBeNull()
})

test('a text that is too short to have so many members may be as deep as it can', () => {
  expect(shapeOf('[[]]', { depth: 1, members: 4 })).toBeNull()
  expect(shapeOf('[[]] ', { depth: 1, members: 4 })).toBe('depth')
})

test('the most members that are allowed are counted, with a name, a comma and brackets each', () => {
  const most = { depth: 2, members: 100 }
  const members = Array.from({ length: 100 }, (_, n) => `"${n}\\"": {}`)
  expect(shapeOf(`{${members.join(', ')}}`, most)).toBeNull()
  expect(shapeOf(`{${members.join(', ')}, "a": {}}`, most)).toBe('members')
})
