"""What the Transcription tab is made of: the queue of files, the editor, the history, and live hearing."""
