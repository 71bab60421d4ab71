import { useQuery } from '@apollo/client/react';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';

import type { SharedBoardQuery } from '../../api/documents/operations.ts';
import { SharedBoardDocument } from '../../api/documents/shared.ts';
import { Modal } from '../../parts/controls/modal.tsx';
import { Icon } from '../../parts/icons.tsx';
import { buttonLook } from '../../parts/looks/button.tsx';
import { Figures, Small } from '../../parts/looks/lines.tsx';
import { Page, PageTop } from '../../parts/looks/panels.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { Ago } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';

type SharedFile = NonNullable<SharedBoardQuery['sharedBoard']>['files'][number];

/** A board that somebody has passed on, for whoever has its address. */
export function SharedPage() {
  const { token } = useParams({ from: '/shared/$token' });
  const { data, error, loading } = useQuery(SharedBoardDocument, {
    variables: { token },
    fetchPolicy: 'network-only',
  });
  const [open, setOpen] = useState<SharedFile | null>(null);
  const board = data?.sharedBoard ?? null;
  if (error !== undefined) return <Problem error={error} />;
  if (loading) return <Page aria-busy="true" />;
  if (board === null) return <Empty title={t('shared.ended')} text={t('shared.endedText')} />;
  return (
    <>
      <PageTop>
        <PageHeading>{board.name}</PageHeading>
        <Figures tone="muted" small>
          {board.files.length}
        </Figures>
        <Small className="ml-auto">
          {t('gallery.shareEnds')} <Ago at={board.endsAt} />
        </Small>
      </PageTop>
      <ul
        data-shared-grid
        className="flex flex-wrap gap-2 py-4 px-6 after:[flex:100_0_20rem] after:content-['']"
      >
        {board.files.map((file) => (
          <li
            key={file.url}
            className="overflow-hidden rounded-control bg-media"
            style={{ flexGrow: measureShape(file), flexBasis: `${measureShape(file) * 13}rem` }}
          >
            <SharedView file={file} onOpen={() => setOpen(file)} />
          </li>
        ))}
      </ul>
      {open !== null && (
        <Modal
          title={open.name}
          onClose={() => setOpen(null)}
          width="w-[fit-content]"
          className="max-w-[calc(100vw_-_32px)]"
        >
          <img className="max-h-[74vh] max-w-full object-contain" src={open.url} alt={open.name} />
          <a className={`${buttonLook()} self-start`} href={open.url} download={open.name}>
            <Icon name="download" size={14} />
            {t('media.download')}
          </a>
        </Modal>
      )}
    </>
  );
}

/** Width by height; what has no image gets the shape of a card. */
function measureShape({ width, height }: SharedFile): number {
  return width === null || height === null || height === 0 ? 1.6 : width / height;
}

function SharedView({ file, onOpen }: { readonly file: SharedFile; readonly onOpen: () => void }) {
  const { url, name, contentType } = file;
  if (contentType.startsWith('image/')) {
    return (
      <button type="button" className="block w-full cursor-zoom-in" onClick={onOpen} aria-label={name}>
        <img
          className="block w-full"
          src={url}
          alt=""
          loading="lazy"
          decoding="async"
          style={{ aspectRatio: measureShape(file) }}
        />
      </button>
    );
  }
  if (contentType.startsWith('video/'))
    return (
      <video
        className="block w-full"
        src={url}
        aria-label={name}
        controls
        playsInline
        muted
        loop
        preload="metadata"
      />
    );
  if (contentType.startsWith('audio/'))
    return (
      <figure className="p-4 gap-2 flex flex-col min-w-0">
        <figcaption className="truncate min-w-0">{name}</figcaption>
        <audio src={url} controls preload="metadata" />
      </figure>
    );
  return (
    <a className="p-4 link" href={url} download={name}>
      {name}
    </a>
  );
}
