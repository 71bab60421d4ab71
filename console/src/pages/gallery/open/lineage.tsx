import { useQuery } from '@apollo/client/react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { useIsSignedIn } from '../../../api/caller.ts';
import { MadeFromDocument } from '../../../api/documents/gallery.ts';
import type { MediaPartsFragment, TaskInputsQuery } from '../../../api/documents/operations.ts';
import { formatTotal } from '../../../api/use-pages.ts';
import { Figures } from '../../../parts/looks/lines.tsx';
import { t, textOr } from '../../../text/text.ts';

/** A part of the drawer. */
export function DrawerSection({ children }: { readonly children: ReactNode }) {
  return <section className="flex flex-col gap-3 border-t border-t-line p-4">{children}</section>;
}

/** Most tasks that are shown of those that a file was used for. */
const MOST = 12;

interface LineageProps {
  readonly media: MediaPartsFragment;
  /** Null for an upload. */
  readonly source: TaskInputsQuery['task'];
}

/** From which files it was made, and what was made from it. */
export function Lineage({ media, source }: LineageProps) {
  const inputs = (source?.input?.files ?? []).flatMap(({ input, media: one }) =>
    one === null ? [] : [{ name: textOr(`field.${input}`, input), media: one }],
  );
  const isSignedIn = useIsSignedIn();
  const { data } = useQuery(MadeFromDocument, {
    variables: { file: media.id, first: MOST },
    skip: !isSignedIn,
    fetchPolicy: 'cache-and-network',
  });
  const used = (data?.tasks.edges ?? []).map(({ node }) => node);
  const total = data?.tasks.totalCount ?? 0;
  return (
    <>
      {inputs.length > 0 && (
        <Files title={t('gallery.madeFrom')}>
          {inputs.map((one) => (
            <PieceLink key={`${one.name} ${one.media.id}`} media={one.media} caption={one.name} />
          ))}
        </Files>
      )}
      {used.length > 0 && (
        <Files title={t('gallery.madeInto')} count={total}>
          {used.flatMap(({ id, kind, outputs }) => {
            if (outputs.length > 0)
              return outputs.map((one) => (
                <PieceLink key={`${id} ${one.id}`} media={one} caption={t(`kind.${kind}`)} />
              ));
            return (
              <Link key={id} className="link text-12 font-normal" to="/tasks/$id" params={{ id }}>
                {t(`kind.${kind}`)}
              </Link>
            );
          })}
        </Files>
      )}
    </>
  );
}

function Files({
  title,
  count,
  children,
}: {
  readonly title: string;
  readonly count?: number;
  readonly children: ReactNode;
}) {
  return (
    <DrawerSection>
      <h2>
        {title}{' '}
        {count !== undefined && (
          <Figures tone="muted" className="font-normal">
            {formatTotal(count)}
          </Figures>
        )}
      </h2>
      <div className="flex items-center gap-1 overflow-x-auto" tabIndex={0} role="group" aria-label={title}>
        {children}
      </div>
    </DrawerSection>
  );
}

/** A file by its small image; in the gallery it opens in place of this one. */
function PieceLink({ media, caption }: { readonly media: MediaPartsFragment; readonly caption: string }) {
  return (
    <figure className="flex flex-col gap-1 p-0.75">
      <Link
        className="block rounded-small"
        from="/gallery"
        to="/gallery"
        search={(before) => ({ ...before, open: media.id })}
        replace
        resetScroll={false}
        aria-label={`${caption}: ${media.name}`}
        aria-current={undefined}
      >
        {media.small === null ? (
          <span className="text-12 font-normal">{media.name}</span>
        ) : (
          <img className="size-16 rounded-small object-cover" src={media.small} alt="" />
        )}
      </Link>
      <figcaption className="text-11 font-normal text-faint">{caption}</figcaption>
    </figure>
  );
}
