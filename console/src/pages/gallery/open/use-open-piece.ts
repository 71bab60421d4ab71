import { useQuery } from '@apollo/client/react';
import { useMemo } from 'react';

import { PieceByIdDocument } from '../../../api/documents/gallery.ts';
import type { Piece } from '../../../library/pieces.ts';

/** The piece that the address names, also where the list does not hold it (yet); and its index there, else -1. */
export function useOpenPiece(open: string | undefined, pieces: readonly Piece[]) {
  const current = useMemo(() => pieces.findIndex(({ media }) => media.id === open), [pieces, open]);
  const listed = pieces[current];
  const { data } = useQuery(PieceByIdDocument, {
    variables: { id: open ?? '' },
    skip: open === undefined || listed !== undefined,
  });
  const found = useMemo((): Piece | undefined => {
    const media = open === undefined ? undefined : data?.media;
    return media ? { media, task: media.task, starred: media.starred } : undefined;
  }, [open, data]);
  return { current, piece: listed ?? found };
}
