"""A block together with its output: nothing in either ever reaches the user's code."""

from __future__ import annotations

from taskscope.analysis.calls.lines import lines_text
from taskscope.options import functions_named
from taskscope.profiling.block import Block
from taskscope.profiling.options import BlockOptions
from taskscope.profiling.output import Output, Silent, choose_output
from taskscope.recording import Recording
from taskscope.session import Session

__all__ = ["ProfiledBlock"]


class ProfiledBlock:
    """A block that is shown."""

    def __init__(self, session: Session, options: BlockOptions) -> None:
        self._session = session
        self._block = Block(session, options)
        self._output: Output = Silent()
        """What the result is yet to be shown by."""
        self._shown: Output = Silent()
        """What the block has been shown by."""

    @property
    def recording(self) -> Recording:
        """What was recorded; before the end, what was recorded so far."""
        return self._block.recording

    @property
    def result(self) -> Recording | None:
        """What was recorded by the end; None before it."""
        return self._block.ended

    def start(self) -> None:
        """Open the window and show it; whatever comes of it, `stop` or `close` has to be called."""
        self._block.start()
        try:
            output = choose_output(display=self._block.options.display, panel=self._block.options.panel)
            self._shown = output
            output.start(self._block)
            self._output = output
        except Exception as error:  # noqa: BLE001 - a display that fails must not keep the user's code from running
            self._session.recorder.fault("showing a block", error)

    def stop(self, error: BaseException | None, left_s: float | None = None) -> Recording | None:
        """Close the window, save, and show the result; None if that failed. Once more changes nothing.

        Of what a cluster has yet to tell, or goes on with, all that happens when it is there, or over.
        """
        if not self._block.has_begun:
            return None
        shown = self._shown
        try:
            recording = self._block.leave(
                error,
                left_s,
                # Lines are shown below the result, by then or never.
                can_wait=shown.can_wait and functions_named(self._block.options.lines) is None,
                due=shown.keep_place,
                left=shown.go_on,
                over=self._finish,
            )
            output, self._output = self._output, Silent()
            if not self._block.completes_itself():
                output.finish(recording)
            elif not self._block.is_due:
                output.go_on(recording)
            self._show_lines(shown, recording)
        except Exception as failure:  # noqa: BLE001 - nothing of ours may replace the user's result or exception
            self._session.recorder.fault("showing a result", failure)
            return None
        finally:
            self.close()
        return recording

    def _show_lines(self, output: Output, recording: Recording) -> None:
        functions = functions_named(self._block.options.lines)
        if functions is not None:
            output.show_text(lines_text(recording, functions))

    def _finish(self, recording: Recording) -> None:
        try:
            self._shown.finish(recording)
        finally:
            self._shown.close()

    def close(self) -> None:
        """Close the window as it stands, if it is open, and save and show nothing; it may be called again.

        A block that was left goes on, and completes itself.
        """
        if self._block.completes_itself():
            return
        try:
            self._shown.close()
        except Exception as failure:  # noqa: BLE001 - see stop
            self._session.recorder.fault("showing a result", failure)
        finally:
            self._block.close()
