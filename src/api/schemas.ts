// Parts of the tables of answers.

import { PUSH_KINDS } from '../domain/push.ts'
import { type Static, type TProperties, type TSchema, Type } from '../http/intake/members.ts'

/**
 * Makes a schema nullable. OpenAPI 3.0 has no type "null", and has a single `example` where JSON Schema has
 * `examples`.
 */
export function nullable<S extends TSchema>(schema: S) {
  return Type.Unsafe<Static<S> | null>({ ...schema, nullable: true })
}

export function closed<P extends TProperties>(properties: P, description: string) {
  return Type.Object(properties, { additionalProperties: false, description })
}

export const time = (description: string) =>
  Type.String({ format: 'date-time', description, example: '2026-11-20T22:47:00.000Z' })

export const uri = (description?: string) =>
  Type.String({ format: 'uri', ...(description === undefined ? {} : { description }) })

/** A list of a named schema of the reference. */
export const listOf = <S extends TSchema>(name: string) =>
  Type.Array(Type.Unsafe<Static<S>>({ $ref: `#/components/schemas/${name}` }))

export const count = (description: string) => Type.Integer({ minimum: 0, description })
export const text = (description: string) => Type.String({ description })
export const flag = (description: string) => Type.Boolean({ description })

export const kind = Type.String({ enum: [...PUSH_KINDS], description: 'What the payload is.' })
