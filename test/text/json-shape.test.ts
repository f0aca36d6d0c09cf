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

test.each(['', ']]]]', '[1,', '"open', '"\\', '{"a"'])('leaves malformed JSON to the parser: %s', (json) => {
  expect(shapeOf(json)).toBeNull()
})

test('a text too short for the limit of members may be arbitrarily deep', () => {
  expect(shapeOf('[[]]', { depth: 1, members: 4 })).toBeNull()
  expect(shapeOf('[[]] ', { depth: 1, members: 4 })).toBe('depth')
})

test('the allowed number of members is counted exactly, with a name, a comma and brackets each', () => {
  const most = { depth: 2, members: 100 }
  const members = Array.from({ length: 100 }, (_, n) => `"${n}\\"": {}`)
  expect(shapeOf(`{${members.join(', ')}}`, most)).toBeNull()
  expect(shapeOf(`{${members.join(', ')}, "a": {}}`, most)).toBe('members')
})
