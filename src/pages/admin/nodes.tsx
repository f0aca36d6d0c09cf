// The nodes that serve one database, on the administration page: the version of each, since when it serves, and its last heartbeat.

import type { DatabaseStatus, ServingNode } from '../../operating/status.ts'
import type { Words } from '../../words/words.ts'
import { Chip, Moment, Notice } from '../frame/parts.tsx'

export type NodesProps = {
  /** Null when rows are in the data folder. */
  database: DatabaseStatus | null
  words: Words
}

export function Nodes({ database, words }: NodesProps) {
  const { say } = words
  if (database === null) return null
  const { nodes, upgrade } = database
  return (
    <section class="card" aria-labelledby="nodes-title">
      <h2 id="nodes-title">{say('admin_nodes')}</h2>
      {upgrade === null ? null : (
        <Notice kind="low">
          <p>
            <strong>{say('nodes_upgrade')}</strong>{' '}
            {say('nodes_upgrade_left', { n: upgrade.older, version: upgrade.newest })}
          </p>
        </Notice>
      )}
      <table class="stacks">
        <thead>
          <tr>
            <th scope="col">{say('node')}</th>
            <th scope="col">{say('node_version')}</th>
            <th scope="col">{say('node_since')}</th>
            <th scope="col">{say('node_seen')}</th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <NodeRow node={node} words={words} />
          ))}
        </tbody>
      </table>
      <p class="hint">{say('nodes_hint')}</p>
    </section>
  )
}

function NodeRow({ node, words }: { node: ServingNode; words: Words }) {
  const { say } = words
  const { name, version, startedAt, silence, isThis, isOlder, isSilent } = node
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi> {isThis && <Chip tone="good">{say('node_this')}</Chip>}
      </th>
      <td data-label={say('node_version')}>
        <bdi>{version}</bdi> {isOlder && <Chip tone="low">{say('node_older')}</Chip>}
      </td>
      <td data-label={say('node_since')}>
        <Moment at={startedAt} words={words} />
      </td>
      <td data-label={say('node_seen')}>
        {isSilent ? <Chip tone="bad">{words.ago(silence)}</Chip> : words.ago(silence)}
      </td>
    </tr>
  )
}
