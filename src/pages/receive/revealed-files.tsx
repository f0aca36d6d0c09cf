// The files of an opened push: a download button each, archives of all, and how long they can be saved.

import { ARCHIVE_NAME, ARCHIVE_TYPE } from '../../domain/files.ts'
import { FILES } from '../../http/urls.ts'
import type { GrantedArchive } from '../../pushes/downloads.ts'
import type { RetrievedFile } from '../../pushes/retrieval.ts'
import type { Guest } from '../frame/guest.ts'
import type { IconName } from '../frame/icon-files.ts'
import { Icon } from '../frame/icons.tsx'
import { Clock, fillIn } from '../frame/parts.tsx'

type FilesProps = { guest: Guest; files: readonly RetrievedFile[]; archives: readonly GrantedArchive[] }

export function RevealedFiles({ guest, files, archives }: FilesProps) {
  const { say } = guest
  const first = Math.min(...files.map(({ until }) => until))
  // Show a time for each file if they differ: large files can be saved for longer than small ones.
  const hasOwnTimes = files.some(({ until }) => until !== first)
  return (
    <section aria-labelledby="files-title">
      <h2 id="files-title">{say('files')}</h2>
      <ul class="downloads">
        {files.map((file) => (
          <li>
            {file.isThere ? (
              <FileButton guest={guest} file={file} isOnly={archives.length === 0} />
            ) : (
              <LostFile guest={guest} file={file} />
            )}
            {hasOwnTimes && file.isThere && <Until guest={guest} at={file.until} text="file_until" />}
          </li>
        ))}
      </ul>
      {archives.map((archive, at) => (
        <div class="all-files">
          <ArchiveButton guest={guest} archive={archive} part={at + 1} parts={archives.length} />
          {hasOwnTimes && <Until guest={guest} at={archive.until} text="file_until" />}
        </div>
      ))}
      {!hasOwnTimes && <Until guest={guest} at={first} text="files_until" />}
    </section>
  )
}

type UntilProps = { guest: Guest; at: number; text: 'files_until' | 'file_until' }

function Until({ guest: { words }, at, text }: UntilProps) {
  return <p class="hint">{fillIn(words.say(text), 'until', <Clock at={at} words={words} />)}</p>
}

/** Returns the attributes with which a script shows progress. Without a script these are plain links. */
function downloadAttributes({ words, basePath }: Guest, { grant, size }: { grant: string; size: number }) {
  return {
    href: `${basePath}${FILES.download.href({ grant })}`,
    'data-downloads': size,
    'data-rate': words.say('download_rate'),
    'data-done': words.say('download_done'),
    'data-broken': words.say('download_broken'),
    'data-cancel': words.say('cancel'),
  }
}

/** A download button. If there is an archive, the archive's button is the primary one. */
function FileButton({ guest, file, isOnly }: { guest: Guest; file: RetrievedFile; isOnly: boolean }) {
  return (
    <a
      class={`button file ${isOnly ? 'primary' : 'quiet'}`}
      download={file.filename}
      {...downloadAttributes(guest, file)}
    >
      <Icon name={iconOf(file.contentType)} />
      <bdi>{file.filename}</bdi>
      <span class="size">{guest.words.bytes(file.size)}</span>
    </a>
  )
}

function LostFile({ guest: { words }, file: { filename } }: { guest: Guest; file: RetrievedFile }) {
  return (
    <p class="problem">
      <Icon name="circle-x" /> <bdi>{filename}</bdi>: {words.say('file_lost')}
    </p>
  )
}

type ArchiveProps = { guest: Guest; archive: GrantedArchive; part: number; parts: number }

function ArchiveButton({ guest, archive, part, parts }: ArchiveProps) {
  const { words } = guest
  const size = words.bytes(archive.size)
  return (
    <a class="button primary" download={ARCHIVE_NAME} {...downloadAttributes(guest, archive)}>
      <Icon name="folder-archive" />
      <span>
        {parts === 1 ? words.say('save_all', { size }) : words.say('save_part', { part, parts, size })}
      </span>
    </a>
  )
}

function iconOf(contentType: string): IconName {
  if (contentType === ARCHIVE_TYPE || contentType === 'application/gzip') return 'folder-archive'
  return contentType.startsWith('text/') || contentType === 'application/pdf' ? 'file-text' : 'file'
}
