// The nodes that serve one database, on the administration page: the version of each, since when it serves, and its last heartbeat.

import type { DatabaseStatus, ServingNode } from '../../operating/status.ts'
import type { Words } from '../../words/words.ts'
import type { Children } from '../frame/html.ts'
import { Table } from '../frame/lists.tsx'
import { Card, Chip, Moment, Notice } from '../frame/parts.tsx'

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
    <Card id="nodes" title={say('admin_nodes')}>
      {upgrade && (
        <Notice kind="low">
          <p>
            <strong>{say('nodes_upgrade')}</strong>{' '}
            {say('nodes_upgrade_left', { n: upgrade.older, version: upgrade.newest })}
          </p>
        </Notice>
      )}
      <Table
        heads={[say('node'), say('node_version'), say('node_since'), say('node_seen')]}
        rows={nodes.map((node) => cellsOf(node, words))}
      />
      <p class="hint">{say('nodes_hint')}</p>
    </Card>
  )
}

function cellsOf(node: ServingNode, words: Words): Children[] {
  const { say } = words
  const { name, version, startedAt, silence, isThis, isOlder, isSilent } = node
  return [
    [<bdi>{name}</bdi>, ' ', isThis && <Chip tone="good">{say('node_this')}</Chip>],
    [<bdi>{version}</bdi>, ' ', isOlder && <Chip tone="low">{say('node_older')}</Chip>],
    <Moment at={startedAt} words={words} />,
    isSilent ? <Chip tone="bad">{words.ago(silence)}</Chip> : words.ago(silence),
  ]
}
