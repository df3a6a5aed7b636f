/** How files of recordings look in lists and tabs: bars of a Gantt chart. */
import { LabIcon } from '@jupyterlab/ui-components';

export const recordingIcon = new LabIcon({
  name: 'taskscope:recording',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 22 22">
  <g class="jp-icon3" fill="#616161">
    <rect x="3" y="4" width="8" height="3" rx="1"/>
    <rect x="13" y="4" width="4" height="3" rx="1"/>
    <rect x="5" y="9.5" width="11" height="3" rx="1"/>
    <rect x="9" y="15" width="10" height="3" rx="1"/>
  </g>
</svg>`
});
