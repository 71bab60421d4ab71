import { Icon } from '../icons.tsx';
import { codeText } from '../problem.tsx';
import { ServerWords } from '../server-words.tsx';

/** Why work has failed, in the place of what it would have made: the remedy, then what exactly was said. */
export function Failure({
  error: { code, message },
}: {
  readonly error: { readonly code: string; readonly message: string };
}) {
  return (
    <div className="note bad" role="alert">
      <Icon name="warning" />
      <div className="col gap-1">
        <p className="sb">{codeText(code)}</p>
        <p>
          <ServerWords text={message} />
        </p>
        <p className="c12 mono">{code}</p>
      </div>
    </div>
  );
}
