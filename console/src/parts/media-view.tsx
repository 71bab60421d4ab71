import { useRef, useState } from 'react';

import type { MediaPartsFragment } from '../api/documents/operations.ts';
import { t } from '../text/text.ts';

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
    <a className="pad link" href={url} download>
      {t('media.download')} ({contentType})
    </a>
  );
}

/** A recording with its waveform, which shows how far it has played and can be clicked. */
function Sound({ media, alt }: { readonly media: MediaPartsFragment; readonly alt: string }) {
  const { url, thumbnail } = media;
  const audio = useRef<HTMLAudioElement>(null);
  const [share, setShare] = useState(0);
  const update = () => {
    const { currentTime = 0, duration = 0 } = audio.current ?? {};
    setShare(duration > 0 ? currentTime / duration : 0);
  };
  return (
    <div className="sound">
      {thumbnail !== null && (
        // The player below does the same by the keyboard.
        <div
          className="relative h-18 mb-3 overflow-hidden rounded-control cursor-pointer [&_img]:w-full [&_img]:h-full [&_img]:[object-fit:fill] [.drawer_.view_&]:[&_img]:w-full [.drawer_.view_&]:[&_img]:h-full [.drawer_.view_&]:[&_img]:[object-fit:fill] [.tile.done.hero_&]:[&_img]:w-full [.tile.done.hero_&]:[&_img]:h-full [.tile.done.hero_&]:[&_img]:[object-fit:fill]"
          aria-hidden="true"
          onClick={({ clientX, currentTarget }) => {
            const player = audio.current;
            if (player === null || !Number.isFinite(player.duration)) return;
            const { left, width } = currentTarget.getBoundingClientRect();
            player.currentTime = ((clientX - left) / width) * player.duration;
          }}
        >
          <img src={thumbnail} alt="" />
          <span
            className="absolute top-0 right-auto bottom-0 left-0 [background:color-mix(in_srgb,var(--focus)_30%,transparent)] border-r-2 border-r-focus pointer-events-none"
            style={{ width: `${share * 100}%` }}
          />
        </div>
      )}
      <audio
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
