"""The service over HTTP: routes, who may use them, formats, the page."""
