// The types of the route table: each URL has a controller that enforces its guard.

import { expect, test } from 'bun:test'
import { open, routesOf } from '../../../src/http/door/router.ts'
import { API, FILES } from '../../../src/http/urls.ts'

const answer = () => new Response()
const { up, ready } = FILES
const { create } = API

test('a URL without a controller does not compile', () => {
  // @ts-expect-error: `ready` has none.
  expect(() => routesOf({ up, ready }, { up: open(answer) })).toThrow()
})

test('a controller that does not enforce the guard of its URL does not compile', () => {
  // @ts-expect-error: only visitors who may create enter this one.
  expect(routesOf({ create }, { create: open(answer) })).toHaveLength(1)
})

test('a URL whose controller is null has no route', () => {
  expect(routesOf({ up, ready }, { up: open(answer), ready: null })).toEqual([{ url: up, answer }])
})
