// Whether all nodes over one database have the same instance keys, and whether this machine's key file lets a node join them.

import { existsSync } from 'node:fs'
import { findKey, type Keyring } from '../../crypto/keyring.ts'
import type { NodeReport } from '../../store/database-face.ts'
import { readKeyFile } from '../../store/folder/key-file.ts'
import type { KnownKey } from '../../store/postgres/instance/instance-keys.ts'
import { nameKeys } from '../../store/postgres/instance/key-watch.ts'
import { type Finding, problem, warning } from './finding.ts'
import { examineKey } from './folder.ts'

/** What the database says of keys. */
export type KeyRows = { verifiers: readonly KnownKey[]; nodes: readonly NodeReport[] }

/** The first node makes the file of an empty database. */
export function examineNodeKeys(path: string, { verifiers, nodes }: KeyRows): Finding[] {
  if (verifiers.length === 0 && !existsSync(path))
    return [
      warning(
        'key',
        `There is no key file ${path} yet.`,
        'Start one node, which makes it; then copy it to each other node.',
      ),
    ]
  const findings = examineKey(path, verifiers)
  const alive = nodes.filter(({ isAlive }) => isAlive)
  const isUsable = findings.every(({ state }) => state !== 'problem')
  const ofFile = isUsable ? examineFile(path, readKeyFile(path), { verifiers, nodes: alive }) : []
  return [...findings, ...ofFile, ...alive.flatMap(examineNode)]
}

function examineFile(path: string, keyring: Keyring, { verifiers, nodes }: KeyRows): Finding[] {
  const missing = verifiers.filter(({ number }) => findKey(keyring, number) === null)
  const { number } = keyring.sealing
  const known = verifiers.find((key) => key.number === number)
  const lacking = nodes.filter(({ lacks }) => known === undefined || lacks.includes(number))
  return [
    ...missing.map((key) => problem('key', `Key ${key.number} is missing from the key file ${path}.`, SAME)),
    ...(known?.hasSealed || lacking.length === 0
      ? []
      : [
          problem(
            'key',
            `Key ${number} is the first in ${path}, and ${namesOf(lacking)} cannot open it.`,
            STEPS,
          ),
        ]),
  ]
}

function examineNode({ name, lacks, cannotOpenAll }: NodeReport): Finding[] {
  if (lacks.length === 0) return []
  const keys = nameKeys(lacks)
  return cannotOpenAll
    ? [problem('key', `The node ${name} lacks ${keys}: what is sealed under it gets 503 there.`, SAME)]
    : [warning('key', `The node ${name} lacks ${keys}, under which nothing is sealed yet.`, SAME)]
}

const namesOf = (nodes: readonly NodeReport[]): string => nodes.map(({ name }) => name).join(', ')

const SAME = 'Give all nodes the same key file, and restart those that lack a key.'
const STEPS =
  'A node would be refused with this file. Put the new key behind the others in the key files of all nodes, and restart them one after ' +
  'the other; then put it first, and restart them again.'
