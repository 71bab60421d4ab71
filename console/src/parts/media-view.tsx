import { useRef, useState } from 'react';

import type { MediaPartsFragment } from '../api/documents/operations.ts';
import { t } from '../text/text.ts';

interface MediaViewProps {
  readonly media: MediaPartsFragment;
  readonly alt: string;
  readonly className?: string | undefined;
  /** Whether an image may be one of its smaller copies, where these have as many dots as there is room for. */
  readonly mayScale?: boolean;
}

/** An image, a video or a recording, in the shape it was measured to have, so that nothing moves when it is loaded. */
export function MediaView({ media, alt, className = '', mayScale = false }: MediaViewProps) {
  const { url, contentType, width, height } = media;
  // Of a damaged file there are no copies.
  const [hasCopies, setHasCopies] = useState(mayScale);
  if (contentType.startsWith('image/')) {
    return (
      <img
        className={className}
        src={url}
        srcSet={hasCopies ? makeSrcSet(media) : undefined}
        sizes="auto, 100vw"
        onError={() => setHasCopies(false)}
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
        className={className}
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
    return <Sound media={media} alt={alt} className={className} />;
  }
  return (
    <a className="p-4 link" href={url} download>
      {t('media.download')} ({contentType})
    </a>
  );
}

/** The copies of an image with their widths, and itself where it is wider than these; undefined where there are none. */
function makeSrcSet({ url, width, thumbnail, large }: MediaPartsFragment): string | undefined {
  if (thumbnail === null || large === null || width === null || width <= 640) return undefined;
  const whole = width > 1_280 ? [`${url} ${width}w`] : [];
  return [`${thumbnail} 640w`, `${large} ${Math.min(width, 1_280)}w`, ...whole].join(', ');
}

/** A recording with its waveform, which shows how far it has played and can be clicked. */
function Sound({ media, alt, className = '' }: MediaViewProps) {
  const { url, thumbnail } = media;
  const audio = useRef<HTMLAudioElement>(null);
  const [share, setShare] = useState(0);
  const update = () => {
    const { currentTime = 0, duration = 0 } = audio.current ?? {};
    setShare(duration > 0 ? currentTime / duration : 0);
  };
  return (
    <div className={`px-4 py-6 ${className}`}>
      {thumbnail !== null && (
        // The player below does the same by the keyboard.
        <div
          className="relative h-18 mb-3 overflow-hidden rounded-control cursor-pointer"
          aria-hidden="true"
          onClick={({ clientX, currentTarget }) => {
            const player = audio.current;
            if (player === null || !Number.isFinite(player.duration)) return;
            const { left, width } = currentTarget.getBoundingClientRect();
            player.currentTime = ((clientX - left) / width) * player.duration;
          }}
        >
          <img className="h-full w-full object-fill" src={thumbnail} alt="" />
          <span
            className="absolute top-0 right-auto bottom-0 left-0 [background:color-mix(in_srgb,var(--focus)_30%,transparent)] border-r-2 border-r-focus pointer-events-none"
            style={{ width: `${share * 100}%` }}
          />
        </div>
      )}
      <audio
        className="w-full"
        ref={audio}
        src={url}
        aria-label={alt}
        controls
        preload="metadata"
        onTimeUpdate={update}
        onSeeked={update}
        onEnded={update}
      />
    </div>
  );
}
