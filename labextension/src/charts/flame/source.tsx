/** The source of one function, each line with its time and as warm as it took long. */
import { formatDuration, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { ComponentChildren } from '../ui/render';
import { placeText } from './tree';

/** As the kernel sends it; seconds and text are null where they are not known. */
export interface FunctionSource {
  readonly function: readonly [name: string, file: string, line: number];
  readonly seconds: number;
  readonly lines: readonly (readonly [line: number, text: string | null, seconds: number | null])[];
  readonly note: string | null;
}

/** Most of a line's colour: text stays readable on it. */
const WARMEST_PERCENT = 45;

export function sourceOf(value: unknown): ComponentChildren {
  const source = value as Partial<FunctionSource>;
  return source.lines === undefined ? null : <Source source={source as FunctionSource} />;
}

function Source({ source: { function: [name, file, line], seconds, lines, note } }: { source: FunctionSource; }) {
  const most = Math.max(...lines.map(([, , each]) => each ?? 0), 0);
  const title = trans.__('Source of %1', printable(name));
  return (
    <div class="tsk-flame-source">
      <p><b>{title}</b> <span class="tsk-flame-note">{`${placeText(file, line)}${seconds > 0 ? ` · ${trans.__('about %1, with what it called', formatDuration(seconds))}` : ''}`}</span></p>
      <p class="tsk-flame-note" hidden={note === null}>{note}</p>
      <div class="tsk-flame-table" tabIndex={0} role="group" aria-label={title} hidden={lines.length === 0}>
        <table>
          <tbody>
            {lines.map(([number, text, each]) => (
              <tr style={each === null ? '' : `background: color-mix(in srgb, var(--tsk-accent) ${WARMEST_PERCENT * each / most}%, transparent)`}>
                <td>{number}</td>
                <td>{each === null ? '' : formatDuration(each)}</td>
                <td><pre>{text === null ? '' : printable(text, 500)}</pre></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
