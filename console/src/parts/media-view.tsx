import type { MediaPartsFragment } from '../api/operations.ts';
import { t } from '../text/text.ts';
import { Sound } from './sound.tsx';

/** A picture, a video or a recording, in the shape it was measured to have, so that nothing moves when it is loaded. */
export function MediaView({ media, alt }: { readonly media: MediaPartsFragment; readonly alt: string }) {
  const { url, contentType, width, height } = media;
  if (contentType.startsWith('image/')) {
    return (
      <img
        src={url}
        alt={alt}
        width={width ?? undefined}
        height={height ?? undefined}
        loading="lazy"
        decoding="async"
      />
    );
  }
  if (contentType.startsWith('video/')) {
    return (
      <video
        src={url}
        aria-label={alt}
        width={width ?? undefined}
        height={height ?? undefined}
        controls
        playsInline
        loop
        muted
        preload="metadata"
      />
    );
  }
  if (contentType.startsWith('audio/')) {
    return <Sound media={media} alt={alt} />;
  }
  return (
    <a className="link pad" href={url} download>
      {t('media.download')} ({contentType})
    </a>
  );
}
